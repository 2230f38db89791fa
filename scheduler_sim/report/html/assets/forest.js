// Each level against the baseline: ratio of means and interval, on an axis on which a factor is always as long.

const KINDS = {
  better: { colour: "#0072b2", marker: "circle", text: "better" },
  worse: { colour: "#b04a00", marker: "square", text: "worse" },
  open: { colour: "#555555", marker: "diamond", text: "no certain difference" },
};

// What tells rows apart stands last: numbers go without the names of their factors, and the beginning is cut.
function lastKept(name) {
  const short = name.replace(/\S+ (?=[-+.\de]+( ·|$))/g, "");
  return short.length > LONGEST_NAME ? `…${short.slice(1 - LONGEST_NAME)}` : short;
}

function forest({ place, against, ends, marks, rows }) {
  if (rows.length === 0) return;
  const height = (row) => rows.length - row;  // the first row on top
  const plot = figure(`#${place}`, {
    height: 90 + 26 * rows.length, x_axis_type: "log", x_range: new Bokeh.Range1d({ start: ends[0], end: ends[1] }),
    y_range: new Bokeh.Range1d({ start: 0.3, end: rows.length + 0.7 }),
  });
  marked(plot, marks);
  plot.xaxes[0].axis_label = `compared with ${against}`;
  namedRows(plot, rows.map(({ name }) => name), lastKept);
  plot.segment([1], [0], [1], [rows.length + 1], { line_color: "black" });
  for (const [kind, { colour, marker }] of Object.entries(KINDS)) {
    const own = rows.map((row, i) => [row, height(i)]).filter(([row]) => row.kind === kind);
    const y = own.map(([, at]) => at);
    plot.segment(own.map(([row]) => row.low), y, own.map(([row]) => row.high), y, { line_color: colour, line_width: 3 });
    plot.scatter(own.map(([row]) => row.ratio), y, { marker, size: 11, fill_color: kind === "worse" ? "white" : colour, line_color: colour, line_width: 2 });
  }
  hover(plot, (_, y) => {
    const row = rows[rows.length - Math.round(y)];
    return row ? `${row.name}: ${row.verdict}` : "";
  });
}
