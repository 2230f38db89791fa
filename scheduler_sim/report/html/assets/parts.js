// Waits and utilisation of parts of the workload: bars of node time, and beside them the waits.

const SHORTEST = 0.8;  // s, where the axis of waits begins
const LETTERS = 95;  // pixels that the words beside a mark take

function parts({ place, rows }) {
  const height = 66 + 24 * rows.length;
  const names = rows.map(({ name }) => name);
  const level = (row) => rows.length - row;  // the first row on top
  const levels = () => new Bokeh.Range1d({ start: 0.3, end: rows.length + 0.7 });
  const lettering = { ...WORDS, x_offset: 7 };

  const most = rows.reduce((high, { used }) => Math.max(high, used ?? 0), 0) || 1;
  const shares = figure(`#${place}-used`, { height, y_range: levels(), x_range: new Bokeh.Range1d({ start: 0, end: 1.35 * most }) });
  namedRows(shares, names);
  shares.xaxes[0].axis_label = "% of all node time";
  const shown = rows.map((row, i) => [row, level(i)]).filter(([{ used }]) => used !== null);
  const [used, usedAt] = [shown.map(([row]) => row.used), shown.map(([, at]) => at)];
  shares.hbar({ y: usedAt, left: 0, right: used, height: 0.65, fill_color: "#004488", line_color: null });
  shares.text({ x: used, y: usedAt, text: shown.map(([{ share }]) => share), ...lettering });
  hover(shares, (_, y) => {
    const row = rows[rows.length - Math.round(y)];
    return row ? `${row.name}: ${row.hours}` : "";
  });

  const ran = rows.map((row, i) => [row, level(i)]).filter(([{ wait }]) => wait !== null);
  const longest = ran.reduce((high, [{ wait }]) => Math.max(high, ...wait), 60);
  const waits = figure(`#${place}-waits`, {
    height, y_range: levels(), x_axis_type: "log", x_range: new Bokeh.Range1d({ start: SHORTEST, end: longest }),
  });
  waits.fit = () => {  // room for the words beside the longest
    const share = LETTERS / Math.max(waits.place.clientWidth - 90, 2 * LETTERS);
    waits.x_range.end = SHORTEST * (longest / SHORTEST) ** (1 / (1 - share));
  };
  waits.fit();
  namedRows(waits, names);
  marked(waits, SPAN_MARKS.filter(([mark]) => mark <= longest));
  waits.xaxes[0].axis_label = "wait";
  const seen = (wait) => Math.max(wait, 1);
  const at = ran.map(([, level]) => level);
  const of = (which) => ran.map(([{ wait }]) => seen(wait[which]));
  waits.segment(of(0), at, of(2), at, { line_color: "#994455", line_width: 3, line_alpha: 0.5 });
  waits.scatter(of(1), at, { marker: "circle", size: 9, fill_color: "#994455", line_color: "#994455" });
  waits.text({ x: ran.map(([{ wait }]) => seen(Math.max(wait[1], wait[2]))), y: at, text: ran.map(([{ mean }]) => `mean ${mean}`), ...lettering });
  hover(waits, (_, y) => {
    const row = rows[rows.length - Math.round(y)];
    if (!row?.wait) return "";
    const [median, mean, high] = row.wait.map(duration);
    return `${row.name}: mean wait ${mean}\nmedian ${median}, 90 % at most ${high}`;
  });
}
