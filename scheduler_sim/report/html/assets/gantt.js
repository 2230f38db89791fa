// Who had which nodes: rectangles where they can be told apart, else what each spot held most.

const MOST_RECTANGLES = 3000;
const MOST_MODULES = 8;
const [WIDE, HIGH] = [800, 240];  // cells of the picture that stands for too many rectangles
const BORDER = 4;  // pixels that a rectangle has to be high and wide to get a white border
const PARTS = 6;  // a node that jobs share gets the room of so many
const AXIS = 40;  // pixels below and above the nodes

class Gantt {
  constructor(place, time, jobs, module) {
    const [name, capacity] = data.modules[module];
    const grains = jobs.run_grains?.[0] ?? 1;  // parts of a node that the rectangles count, where jobs share nodes
    Object.assign(this, { time, jobs, capacity, grains, rows: rowsOf(jobs, module), marked: -1 });
    const panel = make("div", { class: "chart", role: "img", "aria-label": `Nodes of ${name} over time` });
    place.append(make("h4", {}, `${name}: ${count(capacity, "node")}`), panel);
    this.boxes = new Bokeh.ColumnDataSource({ data: { left: [], right: [], bottom: [], top: [], colour: [], line: [] } });
    this.picture = new Bokeh.ColumnDataSource({ data: { image: [], x: [], dw: [] } });
    this.mark = new Bokeh.ColumnDataSource({ data: { left: [], right: [], bottom: [], top: [] } });
    const parts = capacity * (grains > 1 ? PARTS : 1);
    const height = Math.round(Math.min(Math.max(90 + 14 * Math.sqrt(parts), 120), 420));
    this.tall = (height - AXIS) / capacity;  // pixels of a node
    this.plot = time.figure(panel, {
      height, y_axis_label: "node", y_range: new Bokeh.Range1d({ start: 0, end: capacity }),
    });
    const sides = Object.fromEntries(["left", "right", "bottom", "top"].map((side) => [side, { field: side }]));
    this.plot.image_rgba({
      image: { field: "image" }, x: { field: "x" }, y: 0, dw: { field: "dw" }, dh: capacity, source: this.picture,
    });
    this.plot.quad({
      ...sides, source: this.boxes, fill_color: { field: "colour" }, line_color: { field: "line" }, line_width: 0.5,
    });
    this.reserved = data.reserved.filter((one) => one.module === module);
    const reserved = { left: [], right: [], bottom: [], top: [] };
    for (const { start, end, low, high } of this.reserved) {
      reserved.left.push(start * 1000); reserved.right.push(end * 1000);
      reserved.bottom.push(low); reserved.top.push(high);
    }
    this.plot.quad({
      ...sides, source: new Bokeh.ColumnDataSource({ data: reserved }), fill_color: null, line_color: "#333333",
      hatch_pattern: "right_diagonal_line", hatch_color: "#333333", hatch_alpha: 0.6,
    });
    this.plot.quad({ ...sides, source: this.mark, fill_color: null, line_color: "#d55e00", line_width: 4 });
    hover(this.plot, (x, y) => this.tell(x, y));
    this.plot.on_event("tap", ({ x, y }) => {
      const row = this.find(x / 1000, y);
      if (row >= 0) this.chosen?.(row);
    });
  }

  draw(classes) {
    this.classes = classes ?? this.classes;
    const [first, last] = this.time.span;
    const inside = this.rows.filter((i) => this.start(i) < last && this.end(i) > first);
    const few = inside.length <= MOST_RECTANGLES;
    this.boxes.data = this.rectangles(few ? inside : []);
    this.picture.data = few ? { image: [], x: [], dw: [] } : this.painted(inside, first, last);
    this.mark.data = this.rectangles(this.rows.filter((i) => this.jobs.run_row[i] === this.marked));
  }

  row(i) { return this.jobs.run_row[i]; }
  // Where jobs are suspended, each of the times at which they work has rectangles of its own.
  start(i) { return this.jobs.submit[this.row(i)] + (this.jobs.run_start?.[i] ?? this.jobs.wait[this.row(i)]); }
  end(i) { return this.jobs.submit[this.row(i)] + (this.jobs.run_end?.[i] ?? this.jobs.stay[this.row(i)]); }

  bottom(i) { return this.jobs.run_first[i] / this.grains; }
  top(i) { return (this.jobs.run_first[i] + this.jobs.run_count[i]) / this.grains; }

  rectangles(some) {
    const column = (value) => Array.from(some, value);
    const colour = (i) => this.classes.colours[this.classes.code[this.row(i)]];
    return {
      left: column((i) => this.start(i) * 1000), right: column((i) => this.end(i) * 1000),
      bottom: column((i) => this.bottom(i)), top: column((i) => this.top(i)),
      colour: column(colour), line: column((i) => (this.isLarge(i) ? "white" : colour(i))),
    };
  }

  // A border around a small rectangle would hide it.
  isLarge(i) {
    const [first, last] = this.time.span;
    const wide = ((this.end(i) - this.start(i)) * WIDE) / (last - first);
    return wide >= BORDER && (this.top(i) - this.bottom(i)) * this.tall >= BORDER;
  }

  // Add up the area that each class holds of each cell; the largest gives the colour, all together how full it is.
  painted(some, first, last) {
    const high = Math.min(HIGH, this.capacity), cells = WIDE * high;
    const held = this.classes.colours.map(() => new Float32Array(cells));
    const [perSecond, perNode] = [WIDE / (last - first), high / this.capacity];
    for (const i of some) {
      const area = held[this.classes.code[this.row(i)]];
      const [left, right] = [Math.max(0, (this.start(i) - first) * perSecond), Math.min(WIDE, (this.end(i) - first) * perSecond)];
      const bottom = this.bottom(i) * perNode, top = this.top(i) * perNode;
      for (let y = Math.floor(bottom); y < top; y++) {
        const tall = Math.min(y + 1, top) - Math.max(y, bottom);
        for (let x = Math.floor(left); x < right; x++) {
          area[y * WIDE + x] += tall * (Math.min(x + 1, right) - Math.max(x, left));
        }
      }
    }
    const bytes = new Uint8ClampedArray(cells * 4);
    const colours = this.classes.colours.map((colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16)));
    for (let cell = 0; cell < cells; cell++) {
      let [most, sum] = [0, 0];
      for (let k = 0; k < held.length; k++) {
        sum += held[k][cell];
        if (held[k][cell] > held[most][cell]) most = k;
      }
      bytes.set([...colours[most], 255 * Math.min(sum, 1)], cell * 4);
    }
    const { ndarray } = Bokeh.require("core/util/ndarray");
    const image = ndarray(bytes.buffer, { dtype: "uint32", shape: [high, WIDE] });
    return { image: [image], x: [first * 1000], dw: [(last - first) * 1000] };
  }

  find(x, y) {
    const hit = this.rows.find((i) => this.bottom(i) <= y && y < this.top(i) && this.start(i) <= x && x < this.end(i));
    return hit === undefined ? -1 : this.row(hit);
  }

  tell(x, y) {
    const row = this.find(x, y);
    const held = this.reserved.filter((one) => one.low <= y && y < one.high && one.start <= x && x < one.end);
    const job = row < 0 ? [] : [briefly(this.jobs, row)];
    return [...job, ...held.map(({ name }) => `reservation ${name}`)].join(" · ");
  }
}

// Places in the list of node runs that belong to a module.
function rowsOf(jobs, module) {
  const places = [];
  jobs.run_row.forEach((row, i) => {
    if (jobs.module[row] === module + 1) places.push(i);
  });
  return Uint32Array.from(places);
}

// The modules to draw, in their own order: those with the most node-seconds.
function mostUsed(jobs) {
  const used = new Float64Array(data.modules.length + 1);
  jobs.module.forEach((word, row) => {
    if (jobs.wait[row] >= 0) used[word - 1] += jobs.nodes[row] * (jobs.stay[row] - jobs.wait[row]);
  });
  const modules = data.modules.map((_, i) => i);
  const most = modules.slice().sort((a, b) => used[b] - used[a]).slice(0, MOST_MODULES);
  return modules.filter((module) => most.includes(module));
}

function legend(classes) {
  const swatch = (colour) => {
    const box = make("span", { class: "swatch" });
    box.style.backgroundColor = colour;
    return box;
  };
  return make("ul", { class: "legend" }, ...classes.names.map((name, i) => make("li", {}, swatch(classes.colours[i]), name)));
}
