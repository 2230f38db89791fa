// Candidates of a search: by how much each is above the best, or two metrics with their front.

const MARKS = {
  front: { colour: "#0072b2", marker: "circle", size: 11, fill: "#0072b2" },
  left: { colour: "#555555", marker: "diamond", size: 10, fill: "white" },
  dropped: { colour: "#b04a00", marker: "square", size: 7, fill: "white" },
};

function mixes({ kind, axes, rows, points }) {
  if (kind === "front") front(axes, points);
  else above(axes, rows);
}

function above([label], rows) {
  if (rows.length === 0) return;
  const narrow = document.querySelector("main").clientWidth < 600;
  const height = (row) => rows.length - row;  // the best on top
  const ends = rows.flatMap(({ low, high }) => [low, high]);
  const [least, most] = [Math.min(0, ...ends), Math.max(...ends)];
  const margin = (most - least || 1) * 0.04;
  const plot = figure("#mixes", {
    height: 80 + 24 * rows.length, x_range: new Bokeh.Range1d({ start: least - margin, end: most + margin }),
    y_range: new Bokeh.Range1d({ start: 0.3, end: rows.length + 0.7 }),
  });
  plot.xaxes[0].axis_label = label;
  const cut = (name) => (narrow && name.length > 18 ? `${name.slice(0, 17)}…` : name);
  write(plot.yaxes[0], () => rows.map((_, row) => height(row)), (tick) => cut(rows[rows.length - tick].name));
  plot.ygrids[0].grid_line_color = null;
  plot.segment([0], [0], [0], [rows.length + 1], { line_color: "black" });
  for (const [state, own] of [["front", "left"], ["dropped", "dropped"]]) {
    const { colour, marker, fill } = MARKS[state];
    const mine = rows.map((row, i) => [row, height(i)]).filter(([row]) => row.kind === own);
    const y = mine.map(([, at]) => at);
    plot.segment(mine.map(([row]) => row.low), y, mine.map(([row]) => row.high), y, { line_color: colour, line_width: 3 });
    plot.scatter(mine.map(([row]) => row.above), y, { marker, size: 10, fill_color: fill, line_color: colour, line_width: 2 });
  }
  hover(plot, (_, y) => {
    const row = rows[rows.length - Math.round(y)];
    return row ? `${row.name}: ${row.above.toPrecision(3)} (${row.low.toPrecision(3)} to ${row.high.toPrecision(3)})` : "";
  });
}

function front([first, second], points) {
  if (points.length === 0) return;
  const plot = figure("#mixes", { height: 420, y_axis_label: second });
  plot.xaxes[0].axis_label = first;
  for (const state of ["dropped", "left", "front"]) {
    const { colour, marker, size, fill } = MARKS[state];
    const own = points.filter(({ kind }) => kind === state).sort((a, b) => a.x - b.x);
    const [x, y] = [own.map((one) => one.x), own.map((one) => one.y)];
    if (state === "front") plot.line(x, y, { line_color: colour, line_width: 2 });
    plot.scatter(x, y, { marker, size, fill_color: fill, line_color: colour, line_width: 1.5 });
  }
  const wide = Math.max(...points.map(({ x }) => x)) - Math.min(...points.map(({ x }) => x)) || 1;
  const high = Math.max(...points.map(({ y }) => y)) - Math.min(...points.map(({ y }) => y)) || 1;
  hover(plot, (x, y) => {
    const away = (one) => Math.hypot((one.x - 1000 * x) / wide, (one.y - y) / high);
    const near = points.reduce((best, one) => (away(one) < away(best) ? one : best));
    return away(near) < 0.04 ? `${near.name}: ${near.x.toPrecision(4)}, ${near.y.toPrecision(4)}` : "";
  });
}
