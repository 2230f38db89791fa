// Candidates of a search: by how much each is above the best, or two metrics with their front; named at their marks.

const MARKS = {
  front: { colour: "#0072b2", size: 11 },
  left: { colour: "#0072b2", size: 10 },
  dropped: { colour: "#b04a00", size: 9 },
};
const WIDE_RANGE = 20;  // a metric whose values are so many times apart has a logarithmic axis

function mixes({ kind, ...drawn }) {
  if (kind === "front") front(drawn);
  else above(drawn);
}

function above({ axes: [label], rows }) {
  if (rows.length === 0) return;
  const height = (row) => rows.length - row;  // the best on top
  const ends = rows.flatMap(({ low, high }) => [low, high]);
  const [least, most] = [Math.min(0, ...ends), Math.max(...ends)];
  const wide = most - least || 1;
  const plot = figure("#mixes", {
    height: 80 + 24 * rows.length, x_range: new Bokeh.Range1d({ start: least - 0.04 * wide, end: most + (narrow() ? 0.5 : 0.2) * wide }),
    y_range: new Bokeh.Range1d({ start: 0.3, end: rows.length + 0.7 }),
  });
  plot.xaxes[0].axis_label = label;
  namedRows(plot, rows.map(({ name }) => name));
  plot.segment([0], [0], [0], [rows.length + 1], { line_color: "black" });
  for (const state of ["left", "dropped"]) {
    const { colour, size } = MARKS[state];
    const mine = rows.map((row, i) => [row, height(i)]).filter(([row]) => row.kind === state);
    const y = mine.map(([, at]) => at);
    const of = (key) => mine.map(([row]) => row[key]);
    plot.segment(of("low"), y, of("high"), y, { line_color: colour, line_width: 2, line_alpha: 0.5 });
    plot.scatter(of("above"), y, { marker: state === "left" ? "circle" : "square", size, fill_color: state === "left" ? colour : "white", line_color: colour, line_width: 2 });
    plot.text({ ...WORDS, x: of("high"), y, text: of("value"), x_offset: 8 });
  }
  hover(plot, (_, y) => {
    const row = rows[rows.length - Math.round(y)];
    return row ? `${row.name}: ${row.value} (${row.low.toPrecision(3)} to ${row.high.toPrecision(3)})` : "";
  });
}

// An axis for values of a metric: logarithmic where they are far apart, spans of time (in hours) in units that fit.
function metricAxis(values, isSpan) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const log = low > 0 && high > WIDE_RANGE * low;
  const margin = log ? (high / low) ** 0.06 : (high - low || 1) * 0.06;
  const range = new Bokeh.Range1d(log ? { start: low / margin, end: high * margin } : { start: low - margin, end: high + margin });
  const scaled = (value) => (log ? Math.log(value / range.start) / Math.log(range.end / range.start) : (value - range.start) / (range.end - range.start));
  return { log, range, scaled, marks: log && isSpan ? SPAN_MARKS.map(([mark, text]) => [mark / 3600, text]) : null };
}

function front({ axes, spans, points }) {
  if (points.length === 0) return;
  const [across, up] = ["x", "y"].map((key, i) => metricAxis(points.map((one) => one[key]), spans[i]));
  const plot = figure("#mixes", {
    height: 460, y_axis_label: axes[1], x_range: across.range, y_range: up.range,
    x_axis_type: across.log ? "log" : "linear", y_axis_type: up.log ? "log" : "linear",
  });
  plot.xaxes[0].axis_label = across.marks ? axes[0].replace(" [h]", "") : axes[0];
  if (across.marks) marked(plot, across.marks.filter(([mark]) => mark >= across.range.start && mark <= across.range.end));
  const of = (state) => points.filter(({ kind }) => kind === state).sort((a, b) => a.x - b.x);
  const columns = (some) => [some.map((one) => one.x), some.map((one) => one.y)];
  plot.scatter(...columns(of("dropped")), { marker: "circle", size: 4, fill_color: null, line_color: "#999999" });
  plot.scatter(...columns(of("left")), { marker: "circle", size: 5, fill_color: "#999999", line_color: null });
  const best = of("front");
  plot.step({ x: best.map((one) => one.x), y: best.map((one) => one.y), mode: "after", line_color: MARKS.front.colour, line_width: 1.5 });
  plot.scatter(...columns(best), { marker: "circle", size: MARKS.front.size, fill_color: MARKS.front.colour, line_color: "white" });
  const labels = new Bokeh.ColumnDataSource({ data: { x: [], y: [], text: [], side: [], right: [], down: [] } });
  const field = (name) => ({ field: name });
  plot.text({
    ...WORDS, x: field("x"), y: field("y"), text: field("text"), text_align: field("side"), x_offset: field("right"), y_offset: field("down"), source: labels,
  });
  plot.fit = () => {
    const wide = plot.place.clientWidth - 90;
    const found = placed(best, (one) => [across.scaled(one.x) * wide, (1 - up.scaled(one.y)) * 400], wide);
    const column = (value) => found.map(value);
    labels.data = {
      x: column(({ one }) => one.x), y: column(({ one }) => one.y), text: column(({ one }) => one.label),
      side: column(({ side }) => side), right: column(({ side }) => (side === "left" ? 9 : -9)), down: column(({ shift }) => shift),
    };
  };
  plot.fit();
  hover(plot, (x, y) => {
    const away = (one) => Math.hypot(across.scaled(one.x) - across.scaled(1000 * x), up.scaled(one.y) - up.scaled(y));
    const near = points.reduce((best, one) => (away(one) < away(best) ? one : best));
    return away(near) < 0.04 ? `${near.name}: ${near.x.toPrecision(4)}, ${near.y.toPrecision(4)}` : "";
  });
}

// Where each label stands beside its mark, so that none covers another; one that has no room is left out.
function placed(some, pixels, wide) {
  const taken = [], kept = [];
  for (const one of some) {
    const [x, y] = pixels(one);
    const length = 7 * one.label.length + 6;
    for (const [side, shift] of [["left", -12], ["left", 12], ["right", 12], ["right", -12]]) {
      const left = side === "left" ? x + 9 : x - 9 - length;
      const box = [left, y + shift - 8, left + length, y + shift + 8];
      const free = taken.every(([l, t, r, b]) => box[0] > r || box[2] < l || box[1] > b || box[3] < t);
      if (!free || box[0] < 0 || box[2] > wide) continue;
      taken.push(box);
      kept.push({ one, side, shift });
      break;
    }
  }
  return kept;
}
