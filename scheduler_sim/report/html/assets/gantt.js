// Who had which nodes: rectangles where they can be told apart, else how many nodes each class held.

const MOST_RECTANGLES = 3000;
const MOST_MODULES = 8;
const WIDE = 800;  // pixels of a chart, about
const SLICES = 200;  // columns of time at most where there are too many rectangles, as report/class_nodes.py
const WIDTHS = [60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];
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
    this.mark = new Bokeh.ColumnDataSource({ data: { left: [], right: [], bottom: [], top: [] } });
    const parts = capacity * (grains > 1 ? PARTS : 1);
    const height = Math.round(Math.min(Math.max(90 + 14 * Math.sqrt(parts), 120), 420));
    this.tall = (height - AXIS) / capacity;  // pixels of a node
    this.plot = time.figure(panel, {
      height, y_axis_label: "node", y_range: new Bokeh.Range1d({ start: 0, end: capacity }),
    });
    const sides = Object.fromEntries(["left", "right", "bottom", "top"].map((side) => [side, { field: side }]));
    this.plot.quad({
      ...sides, source: this.boxes, fill_color: { field: "colour" }, line_color: { field: "line" }, line_width: 0.5,
    });
    this.reserved = data.reserved.filter((one) => one.module === module);
    const reserved = { left: [], right: [], bottom: [], top: [] };
    for (const { start, end, low, high } of this.reserved) {
      reserved.left.push(start * 1000); reserved.right.push(end * 1000);
      reserved.bottom.push(low); reserved.top.push(high);
    }
    this.hatched = this.plot.quad({
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
    this.layered = inside.length <= MOST_RECTANGLES ? null : this.stacked();
    this.boxes.data = this.layered ? this.layers(this.layered) : this.rectangles(inside);
    this.plot.yaxes[0].axis_label = this.layered ? "nodes" : "node";
    this.hatched.visible = !this.layered;
    this.mark.data = this.rectangles(this.layered ? [] : this.rows.filter((i) => this.jobs.run_row[i] === this.marked));
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

  // The mean number of nodes that each class held in each column of time, on top of each other.
  stacked() {
    const [first, last] = this.time.span;
    const width = WIDTHS.find((one) => last - first <= one * SLICES) ?? Math.ceil((last - first) / SLICES);
    const begin = Math.floor(first / width) * width, columns = Math.ceil((last - begin) / width);
    const held = this.classes.colours.map(() => new Float64Array(columns));
    for (const i of this.rows) {
      const nodes = held[this.classes.code[this.row(i)]];
      const left = Math.max((this.start(i) - begin) / width, 0), right = Math.min((this.end(i) - begin) / width, columns);
      for (let x = Math.floor(left); x < right; x++) {
        nodes[x] += (this.top(i) - this.bottom(i)) * (Math.min(x + 1, right) - Math.max(x, left));
      }
    }
    return { begin, width, columns, held };
  }

  layers({ begin, width, columns, held }) {
    const found = { left: [], right: [], bottom: [], top: [], colour: [], line: [] };
    for (let x = 0; x < columns; x++) {
      let below = 0;
      held.forEach((nodes, k) => {
        if (nodes[x] === 0) return;
        found.left.push((begin + x * width) * 1000);
        found.right.push((begin + (x + 1) * width) * 1000);
        found.bottom.push(below);
        found.top.push((below += nodes[x]));
        found.colour.push(this.classes.colours[k]);
        found.line.push(this.classes.colours[k]);
      });
    }
    return found;
  }

  find(x, y) {
    if (this.layered) return -1;
    const hit = this.rows.find((i) => this.bottom(i) <= y && y < this.top(i) && this.start(i) <= x && x < this.end(i));
    return hit === undefined ? -1 : this.row(hit);
  }

  // What hovering over a layer tells: the class, its nodes, and of which time they are the mean.
  tellLayer(x, y) {
    const { begin, width, held } = this.layered;
    const at = Math.floor((x - begin) / width);
    let below = 0;
    const k = held.findIndex((nodes) => y < (below += nodes[at] ?? 0));
    if (k < 0 || y < 0) return "";
    const from = begin + at * width;
    return `${this.classes.names[k]}: ${grouped(held[k][at])} nodes\nmean of ${clock(from)} to ${clock(from + width)}\n${calendar(from)}`.trimEnd();
  }

  tell(x, y) {
    if (this.layered) return this.tellLayer(x, y);
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
