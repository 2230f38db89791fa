// The table of all jobs: sorted, filtered, fifty rows a page.

const PAGE = 50;
const MOST_CHOICES = 200;

class JobTable {
  constructor(place, jobs, story) {
    Object.assign(this, { jobs, story, page: 0, filters: {}, text: "" });
    this.rows = [...jobs.id.keys()];
    this.order = this.rows;
    this.sizes = { names: sizeNames(jobs), code: Uint8Array.from(jobs.nodes, sizeClass) };
    this.columns = {
      component: (row) => at(jobs.id, row), name: (row) => at(jobs.name, row), user: (row) => at(jobs.user, row),
      app: (row) => at(jobs.app, row), partition: (row) => at(jobs.partition, row), module: (row) => at(jobs.module, row),
      state: (row) => at(jobs.state, row),
      nodes: (row) => jobs.nodes[row], submitted: (row) => jobs.submit[row], waited: (row) => jobs.wait[row],
      ran: (row) => (jobs.wait[row] < 0 ? -1 : jobs.stay[row] - jobs.wait[row]),
    };
    if (!jobs.partition) delete this.columns.partition;  // there are not several
    for (const name of ["name", "user", "app"]) {  // what no job states has no column
      if (!this.rows.some((row) => known(this.columns[name](row)))) delete this.columns[name];
    }
    this.body = make("tbody");
    this.told = make("output", { "aria-live": "polite" });
    this.previous = button("Previous page", () => this.turn(-1));
    this.next = button("Next page", () => this.turn(1));
    place.append(
      make("div", { class: "controls", role: "group", "aria-label": "Filter the jobs" }, ...this.filterFields()),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of all jobs" },
        make("table", {}, make("caption", {}, make("span", {}, "Choose a component to read why it waited. Most jobs have one component.")), this.head(), this.body)),
      make("div", { class: "controls" }, this.previous, this.next, this.told),
    );
    this.apply();
  }

  head() {
    const numbers = ["nodes", "submitted", "waited", "ran"];
    const units = { submitted: dated() ? "UTC" : "after the first", waited: "h:mm:ss", ran: "h:mm:ss" };
    const cells = Object.entries(this.columns).map(([name, value]) => {
      const cell = make("th", { scope: "col", class: numbers.includes(name) ? "number" : null }, name in units ? `${name} [${units[name]}]` : name);
      cell.sort = (ascending) => this.sort(value, ascending);
      return cell;
    });
    const row = make("tr", {}, ...cells);
    cells.forEach((cell) => sortable(cell, cell.sort));
    return make("thead", {}, row);
  }

  filterFields() {
    const field = make("input", { type: "search", autocomplete: "off" });
    field.addEventListener("input", later(() => {
      this.text = field.value.trim().toLowerCase();
      this.apply();
    }, 150));
    const size = choice("nodes", [["", "all"], ...this.sizes.names.map((name, i) => [i, name])], (value) => this.filter("size", value));
    return [labelled("contains", field), ...["user", "app", "partition", "module", "state"].filter((name) => name in this.columns).map((name) => this.byWord(name)), size];
  }

  // A choice among the words of a column, the most frequent ones if there are too many.
  byWord(name) {
    const column = this.jobs[name];
    const often = new Uint32Array(column.words.length);
    column.forEach((word) => often[word]++);
    let used = [...often.keys()].filter((word) => often[word]);
    if (used.length > MOST_CHOICES) used = used.sort((a, b) => often[b] - often[a]).slice(0, MOST_CHOICES);
    const options = used.map((word) => [word, known(column.words[word]) ? column.words[word] : "not known"]);
    options.sort(([, a], [, b]) => a.localeCompare(b, "en", { numeric: true }));
    return choice(name, [["", "all"], ...options], (value) => this.filter(name, value));
  }

  filter(name, value) {
    if (value === "") delete this.filters[name];
    else this.filters[name] = Number(value);
    this.apply();
  }

  sort(value, ascending) {
    const keys = this.rows.map(value);
    this.order = this.rows.slice().sort((a, b) => (ascending ? compare(keys[a], keys[b]) : compare(keys[b], keys[a])) || a - b);
    this.apply();
  }

  apply() {
    const tests = Object.entries(this.filters).map(([name, value]) => {
      const column = name === "size" ? this.sizes.code : this.jobs[name];
      return (row) => column[row] === value;
    });
    if (this.text) tests.push((row) => this.holds(row));
    this.shown = tests.length ? this.order.filter((row) => tests.every((test) => test(row))) : this.order;
    this.page = 0;
    this.draw();
  }

  holds(row) {
    return ["id", "name", "user", "app"].some((name) => String(at(this.jobs[name], row)).toLowerCase().includes(this.text));
  }

  turn(by) {
    this.page += by;
    this.draw();
  }

  draw() {
    const first = this.page * PAGE;
    const rows = this.shown.slice(first, first + PAGE);
    this.body.replaceChildren(...rows.map((row) => this.line(row)));
    const whole = count(this.shown.length, "job");
    this.told.textContent = rows.length ? `${grouped(first + 1)} to ${grouped(first + rows.length)} of ${whole}` : "No job fits.";
    this.previous.disabled = this.page === 0;
    this.next.disabled = first + PAGE >= this.shown.length;
  }

  line(row) {
    const show = () => this.story.open(row);
    const cells = Object.entries(this.columns).map(([name, value]) => {
      if (name === "component") return make("th", { scope: "row" }, button(String(value(row)), show, { class: "link" }));
      if (name === "nodes") return make("td", { class: "number" }, grouped(value(row)));
      if (name === "submitted") return make("td", { class: "number" }, dated() ? calendar(value(row)).replace(" UTC", "") : clock(value(row)));
      if (name === "waited" || name === "ran") return make("td", { class: "number" }, value(row) < 0 ? "–" : hours(value(row)));
      return make("td", {}, known(value(row)) ? value(row) : "–");
    });
    return make("tr", {}, ...cells);
  }
}
