// Busy nodes, resources and queue over time: steps where there are few, else the least, mean and most of each column.

const COLUMNS = 700;
const LONGEST_LABEL = 20;  // signs beside a chart

// Rows of one module (the total stands after the last module) in the packed timeline.
function timelineOf(columns, module) {
  const end = after(columns.line_module, module);
  const begin = after(columns.line_module, module - 1);
  const part = (name) => columns[name].subarray(begin, end);
  return Object.fromEntries(["time", "busy", "down", "queue", "power"].filter((key) => columns[`line_${key}`]).map((key) => [key, part(`line_${key}`)]));
}

// Cut a step function between two times into at most COLUMNS columns, as report/envelope.py does.
function envelope(time, value, first, last) {
  const [begin, end] = [after(time, first), after(time, last)];
  const edges = [first];
  if (end - begin < COLUMNS) edges.push(...time.subarray(begin, end).filter((t) => t > first && t < last), last);
  else for (let i = 1; i <= COLUMNS; i++) edges.push(first + ((last - first) * i) / COLUMNS);
  const low = [], high = [], mean = [];
  let at = begin - 1;  // the row that holds now; before the first row all is 0
  for (let i = 0; i + 1 < edges.length; i++) {
    let now = edges[i], area = 0;
    while (at + 1 < end && time[at + 1] <= now) at++;
    let [least, most] = [at < 0 ? 0 : value[at], at < 0 ? 0 : value[at]];
    while (at + 1 < end && time[at + 1] < edges[i + 1]) {
      area += (at < 0 ? 0 : value[at]) * (time[at + 1] - now);
      now = time[++at];
      least = Math.min(least, value[at]);
      most = Math.max(most, value[at]);
    }
    area += (at < 0 ? 0 : value[at]) * (edges[i + 1] - now);
    low.push(least);
    high.push(most);
    mean.push(area / (edges[i + 1] - edges[i]));
  }
  return { edges, low, high, mean };
}

// What a resource of one module is over time; nothing where the module has none of it.
function resourceOf(columns, module, kind) {
  const i = data.resources.findIndex((one) => one.module === module && one.kind === kind);
  const { there, scale } = data.resources[i] ?? { there: 0, scale: 1 };
  const steps = (name) => {
    const [time, value] = [`${name}_time`, `${name}_value`].map((column) => columns[`resource${i}_${column}`] ?? new Float64Array());
    return { time, value: Float64Array.from(value, (units) => units / scale) };
  };
  return { top: there / scale, used: steps("used"), stranded: steps("stranded") };
}

// One chart over time: `value()` gives the steps to draw, `top()` how much there is, where that is known; `out()` what to
// hatch from there down, which is called `outLabel`. The y axis ends at the most that is shown.
function timeline(place, time, { value, top, out, colour, label, outLabel }) {
  const band = new Bokeh.ColumnDataSource({ data: { x: [], low: [], high: [], mean: [] } });
  const line = new Bokeh.ColumnDataSource({ data: { x: [], y: [] } });
  const held = new Bokeh.ColumnDataSource({ data: { left: [], right: [], low: [], high: [] } });
  const plot = time.figure(place, { height: 170, y_axis_label: label, y_range: new Bokeh.Range1d({ start: 0, end: 1 }) });
  const sides = { left: { field: "left" }, right: { field: "right" } };
  const between = { ...sides, bottom: { field: "low" }, top: { field: "high" }, line_color: null };
  const area = { x: { field: "x" }, source: band, fill_color: colour };  // one shape: side by side, see-through ones have dark seams
  plot.varea({ ...area, y1: 0, y2: { field: "mean" }, fill_alpha: 0.35 });
  plot.varea({ ...area, y1: { field: "low" }, y2: { field: "high" }, fill_alpha: 0.25 });
  plot.step({ x: { field: "x" }, y: { field: "y" }, mode: "after", source: line, line_color: colour, line_width: 1.5 });
  plot.quad({ ...between, source: held, fill_color: "#d9d9d9", hatch_pattern: "right_diagonal_line", hatch_color: "#555555" });
  let shown, down;
  const draw = () => {
    const [own, other] = [value(), out?.() ?? { time: new Float64Array(), value: [] }];
    shown = envelope(own.time, own.value, ...time.span);
    down = envelope(other.time, other.value, ...time.span);
    const hatched = down.mean.some((lost) => lost > 0);
    plot.y_range.end = (hatched ? top() : shown.high.reduce((a, b) => Math.max(a, b), 0)) * 1.05 || 1;
    const full = top ? `${label} of ${grouped(top())}` : label;
    plot.yaxes[0].axis_label = full.length <= LONGEST_LABEL ? full : label;
    const ms = shown.edges.map((edge) => edge * 1000);
    const lost = down.edges.map((edge) => edge * 1000);
    const twice = (values) => values.flatMap((value) => [value, value]);
    band.data = { x: twice(ms).slice(1, -1), low: twice(shown.low), high: twice(shown.high), mean: twice(shown.mean) };
    line.data = { x: ms, y: [...shown.mean, shown.mean.at(-1)] };
    const some = (values) => values.filter((_, i) => down.mean[i] > 0);
    const left = some(lost.slice(0, -1));
    held.data = {
      left, right: some(lost.slice(1)), high: left.map(() => top()), low: some(down.mean).map((nodes) => top() - nodes),
    };
  };
  time.listeners.push(draw);
  hover(plot, (x) => {
    const i = after(shown.edges, x) - 1;
    if (i < 0 || i >= shown.mean.length) return "";
    const [low, high, mean] = [shown.low[i], shown.high[i], shown.mean[i]];
    const there = low === high ? grouped(low) : `${grouped(low)} to ${grouped(high)}, mean ${grouped(mean)}`;
    const lost = down.mean[after(down.edges, x) - 1] ?? 0;
    const more = lost > 0 ? `${outLabel}: ${grouped(lost)}` : "";
    return [`${clock(x)} after the first submission`, calendar(x), `${label}: ${there}`, more].filter(Boolean).join("\n");
  });
  return draw;
}
