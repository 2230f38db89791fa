// The page of benchmarks: its tables can be sorted; its pictures need no script.

sortableTables();
document.documentElement.dataset.ready = "yes";
