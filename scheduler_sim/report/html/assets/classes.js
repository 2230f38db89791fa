// Classes of components and their colours: by wait, size, user, application, state.

// Viridis, from light to dark; Paul Tol's medium-contrast scheme for names: both readable in grey.
const SHADES = ["#ece51b", "#85d54a", "#38b977", "#1e9b8a", "#2e6f8e", "#443983", "#440154"];
const TONES = ["#004488", "#eecc66", "#994455", "#6699cc", "#997700", "#ee99aa"];
const OTHERS = "#aaaaaa";
const WAITS = [["at once", 1], ["< 10 min", 600], ["< 1 h", 3600], ["< 6 h", 21600], ["< 1 d", DAY], ["1 d or more", Infinity]];

const CLASSES = {
  wait: (jobs) => ordered(WAITS.map(([text]) => text), jobs.wait, (wait) => WAITS.findIndex(([, end]) => wait < end)),
  size: (jobs) => ordered(sizeNames(jobs), jobs.nodes, sizeClass),
  user: (jobs) => named(jobs.user, jobs),
  app: (jobs) => named(jobs.app, jobs),
  state: (jobs) => named(jobs.state, jobs),
};

// Sizes in steps of four, as metrics/slices.py: 1, 2–4, 5–16, ... nodes.
function sizeClass(nodes) {
  let place = 0;
  for (let end = 1; end < nodes; end *= 4) place++;
  return place;
}

function sizeNames(jobs) {
  const largest = jobs.nodes.reduce((most, nodes) => Math.max(most, nodes), 1);
  const names = ["1"];
  for (let end = 4; end / 4 < largest; end *= 4) names.push(`${end / 4 + 1}–${end}`);
  return names;
}

function ordered(names, values, classOf) {
  const code = Uint8Array.from(values, classOf);
  const colours = names.map((_, i) => SHADES[Math.round((i * (SHADES.length - 1)) / Math.max(names.length - 1, 1))]);
  return { code, names, colours };
}

// The names that used the most node-seconds one by one, the others in grey.
function named(column, jobs) {
  const used = new Float64Array(column.words.length);
  column.forEach((word, row) => {
    if (jobs.wait[row] >= 0) used[word] += jobs.nodes[row] * (jobs.stay[row] - jobs.wait[row]);
  });
  const present = [...used.keys()].filter((word) => used[word] > 0 && known(column.words[word]));
  const most = present.sort((a, b) => used[b] - used[a]).slice(0, TONES.length);
  const place = new Map(most.map((word, i) => [word, i]));
  const code = Uint8Array.from(column, (word) => place.get(word) ?? most.length);
  const names = most.map((word) => column.words[word]);
  const rest = code.some((one) => one === most.length) ? ["others, or not known"] : [];
  return { code, names: [...names, ...rest], colours: [...TONES.slice(0, most.length), OTHERS] };
}
