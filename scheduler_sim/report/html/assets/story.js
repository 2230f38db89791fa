// Why a job waited: the whole explanation where the page has it, else a short one from its columns.

const MEANING = {
  dependency: "waiting for other components, or for its begin time",
  priority: "enough nodes were idle, but the policy kept them for others",
  resources: "not enough nodes were idle",
};

function title(jobs, row) {
  const [name, user, app] = ["name", "user", "app"].map((column) => at(jobs[column], row));
  const id = at(jobs.id, row), job = at(jobs.job, row);
  const who = [known(user) && `user ${user}`, known(app) && `app ${app}`, job !== id && `job ${job}`].filter(Boolean);
  return `Component ${id}${known(name) ? ` “${name}”` : ""}${who.length ? ` (${who.join(", ")})` : ""}`;
}

// What hovering tells.
function briefly(jobs, row) {
  const lines = [title(jobs, row), `${count(jobs.nodes[row], "node")} of ${at(jobs.module, row)}, ${at(jobs.state, row)}`];
  const when = (seconds) => (calendar(seconds) ? `${calendar(seconds)} (${clock(seconds)})` : clock(seconds));
  lines.push(`submitted ${when(jobs.submit[row])}`);
  if (jobs.wait[row] >= 0) {
    lines.push(`waited ${duration(jobs.wait[row])}`, `started ${when(jobs.submit[row] + jobs.wait[row])}`);
    lines.push(`ran ${duration(jobs.stay[row] - jobs.wait[row])}`);
  }
  return lines.join("\n");
}

// The short story, with the words of the long one.
function shortly(jobs, row) {
  const [submit, wait, stay, state] = [jobs.submit[row], jobs.wait[row], jobs.stay[row], at(jobs.state, row)];
  const limit = jobs.limit[row] >= 0 ? ` for up to ${duration(jobs.limit[row])}` : "";
  const ran = wait >= 0 ? `${state} after ${duration(stay - wait)}` : state;
  const lines = [
    `${title(jobs, row)} asked for ${count(jobs.nodes[row], "node")} of ${at(jobs.module, row)}${limit}: ${ran}. Policy ${data.policy}.`,
    "", "Times are days and h:mm:ss after the first submission of the trace.",
  ];
  const moments = { submitted: 0, eligible: jobs.dependency[row], started: wait, ended: stay };
  for (const [word, since] of Object.entries(moments)) {
    const when = since < 0 ? "never" : `${clock(submit + since)}  ${calendar(submit + since)}`;
    lines.push(`  ${word.padEnd(11)} ${when}`.trimEnd());
  }
  return [...lines, "", ...whyOf(jobs, row)].join("\n");
}

function whyOf(jobs, row) {
  const [wait, state] = [jobs.wait[row], at(jobs.state, row)];
  if (state === "REJECTED") return ["It was rejected when it was submitted: no placement can ever hold it."];
  if (wait === 0) return ["It did not wait: it started at the instant it was submitted."];
  if (wait < 0 && state === "CANCELLED") return [`It was cancelled after ${duration(jobs.stay[row])} of waiting.`];
  if (wait < 0) return ["It never started before the end of the record."];
  const parts = { dependency: jobs.dependency[row], priority: jobs.priority[row] };
  parts.resources = wait - parts.dependency - parts.priority;
  const lines = [`It waited ${duration(wait)}:`];
  for (const [kind, seconds] of Object.entries(parts)) {
    if (seconds > 0) lines.push(`  ${kind.padEnd(11)} ${duration(seconds)}, ${Math.round((100 * seconds) / wait)} %: ${MEANING[kind]}`);
  }
  return lines;
}

class Story {
  constructor(jobs, time, gantts) {
    Object.assign(this, { jobs, time, gantts, place: document.getElementById("story-text") });
    document.getElementById("story-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(document.getElementById("story-field").value.trim());
    });
  }

  search(wanted) {
    const rows = this.found(wanted);
    if (wanted === "" || rows.length === 0) {
      this.place.replaceChildren(make("p", {}, wanted === "" ? "Type a component id or a name." : `No component has the id or a name with “${wanted}”.`));
    } else if (rows.length === 1) {
      this.show(rows[0]);
    } else {
      const several = rows.slice(0, 20).map((row) => make("li", {}, button(title(this.jobs, row), () => this.show(row))));
      const more = rows.length > 20 ? `, the first 20 of ${grouped(rows.length)}` : "";
      this.place.replaceChildren(make("p", {}, `Several components have that name${more}:`), make("ul", { class: "found" }, ...several));
    }
  }

  // The row with this id; else those whose name is it, or holds it.
  found(wanted) {
    const rows = [...this.jobs.id.keys()];
    const low = wanted.toLowerCase();
    const byId = rows.filter((row) => String(at(this.jobs.id, row)) === wanted);
    if (byId.length) return byId;
    const exact = rows.filter((row) => at(this.jobs.name, row) === wanted);
    return exact.length ? exact : rows.filter((row) => at(this.jobs.name, row).toLowerCase().includes(low));
  }

  show(row) {
    const whole = Object.hasOwn(data.stories, row);
    const text = whole ? data.stories[row] : shortly(this.jobs, row);
    const id = at(this.jobs.id, row);
    const note = `The whole account: scheduler-sim explain DIR ${id}`;
    this.place.replaceChildren(
      make("h3", {}, title(this.jobs, row)),
      make("pre", { class: "story", tabindex: 0 }, text),
      ...(whole ? [] : [make("p", { class: "note" }, note)]),
      make("p", {}, button("Show it in the charts", () => this.inCharts(row))),
    );
  }

  open(row) {
    this.show(row);
    document.getElementById("story").scrollIntoView();
  }

  inCharts(row) {
    const begin = this.jobs.submit[row];
    const end = begin + Math.max(this.jobs.stay[row], this.jobs.wait[row], 60);
    const margin = (end - begin) / 4;
    this.gantts.forEach((gantt) => (gantt.marked = row));
    this.time.show(begin - margin, end + margin);
    this.gantts.forEach((gantt) => gantt.draw());
    document.getElementById("time").scrollIntoView();
  }
}
