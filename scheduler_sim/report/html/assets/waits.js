// The distribution of waits: which share waited at most a given time; time on a logarithmic axis from 1 s.

function waitChart(place, jobs) {
  const waits = Float64Array.from(jobs.wait.filter((wait) => wait >= 0)).sort();
  if (waits.length === 0) return;
  const longest = Math.max(waits[waits.length - 1], 60);
  const points = 400;
  const x = [], share = [];
  for (let i = 0; i <= points; i++) {
    const wait = longest ** (i / points);
    x.push(wait);
    share.push((100 * after(waits, wait)) / waits.length);
  }
  const plot = figure(place, {
    height: 260, x_axis_type: "log", x_range: new Bokeh.Range1d({ start: 1, end: longest * 1.1 }),
    y_range: new Bokeh.Range1d({ start: 0, end: 103 }), y_axis_label: "% of components",
  });
  marked(plot, SPAN_MARKS.filter(([mark]) => mark <= longest * 1.1));
  plot.xaxes[0].axis_label = "waited at most";
  plot.line(x, share, { line_color: "#004488", line_width: 2.5 });
  hover(plot, (thousandth) => {
    const wait = Math.min(Math.max(thousandth * 1000, 0), longest);
    return `${grouped((100 * after(waits, wait)) / waits.length)} % waited at most ${duration(wait)}`;
  });
}
