// The page of a run: unpack, draw, and tie charts, story and table together.

async function run() {
  const jobs = await unpack();
  const time = new Time(data.span);
  const modules = data.modules;
  let shown = modules.length > 1 ? modules.length : 0;  // the total stands after the last module
  const part = () => timelineOf(jobs, shown);
  const nodes = () => modules.reduce((sum, [, nodes], i) => sum + (shown === i || shown === modules.length ? nodes : 0), 0);
  const of = (key) => () => ({ time: part().time, value: part()[key] });
  const power = () => ({ time: part().time, value: Float64Array.from(part().power, (watts) => watts / data.power.scale) });
  const resource = (kind) => resourceOf(jobs, shown, kind);
  const drawLines = [
    timeline("#busy-chart", time, {
      value: of("busy"), top: nodes, out: of("down"), colour: "#004488", label: "busy nodes", outLabel: "out of service",
    }),
    ...[...new Map(data.resources.map((one) => [one.kind, one])).values()].map(({ kind, label, colour }) =>
      timeline(`#${kind}-chart`, time, {
        value: () => resource(kind).used, top: () => resource(kind).top, out: () => resource(kind).stranded,
        colour, label, outLabel: "stranded",
      })),
    timeline("#queue-chart", time, { value: of("queue"), colour: "#994455", label: "waiting components" }),
    ...(data.power ? [timeline("#power-chart", time, { value: power, colour: "#aa3377", label: data.power.label })] : []),
  ];

  const place = document.getElementById("gantt");
  const gantts = mostUsed(jobs).map((module) => new Gantt(place, time, jobs, module));
  const story = new Story(jobs, time, gantts);
  const key = make("div", { class: "key" });
  place.prepend(make("h3", {}, "Nodes"), key);
  const colour = (by) => {
    const classes = CLASSES[by](jobs);
    key.replaceChildren(legend(classes));
    gantts.forEach((gantt) => gantt.draw(classes));
  };
  for (const gantt of gantts) {
    gantt.chosen = (row) => story.open(row);
    time.listeners.push(() => gantt.draw());
  }
  const names = [...modules.map(([name], i) => [i, name]), ...(modules.length > 1 ? [[modules.length, "all modules"]] : [])].reverse();
  const lines = choice("Lines show", names, (value) => {
    shown = Number(value);
    drawLines.forEach((draw) => draw());
  });
  const colours = choice("Colours by", Object.keys(CLASSES).map((by) => [by, by]), colour);
  document.getElementById("time-controls").append(...time.controls(...(modules.length > 1 ? [lines] : []), colours));
  drawLines.forEach((draw) => draw());
  colour("wait");
  waitChart("#wait-chart", jobs);
  data.classes.forEach(parts);
  new JobTable(document.getElementById("job-table"), jobs, story);
  sortableTables();
}

run().then(
  () => (document.documentElement.dataset.ready = "yes"),
  (error) => {
    const told = `Charts, search and the table of jobs could not be made in this browser: ${error.message}`;
    document.getElementById("content").prepend(make("p", { class: "notice", role: "alert" }, told));
    throw error;
  },
);
