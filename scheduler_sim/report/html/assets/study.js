// The page of a study: its charts, and tables that can be sorted.

data.forests.forEach(forest);
sortableTables();
document.documentElement.dataset.ready = "yes";
