"use strict";
// Unpacks the data that the first link carries, and hands it out as JSON or as CSV. Nothing is fetched.
(() => {
  const link = document.getElementById("archive");
  const name = link.download.replace(/\.json\.gz$/, "");

  const archive = () => {
    const packed = atob(link.href.slice(link.href.indexOf(",") + 1));
    return new Blob([Uint8Array.from(packed, (letter) => letter.charCodeAt(0))], { type: "application/gzip" });
  };

  const unpacked = () => new Response(archive().stream().pipeThrough(new DecompressionStream("gzip")));

  const save = (blob, suffix) => {
    const saver = document.createElement("a");
    saver.href = URL.createObjectURL(blob);
    saver.download = name + suffix;
    saver.click();
    setTimeout(() => URL.revokeObjectURL(saver.href), 60000);
  };

  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  // The columns and the order of fstrial's own CSV.
  const columns = ["run", "filesystem", "target", "workload", "block", "position", "host", "outcome",
    "phase", "metric", "unit", "value", "missing", "lower_bound"];

  function* rows(run) {
    const units = Object.fromEntries(run.metrics.map((metric) => [metric.name, metric.unit]));
    yield columns;
    for (const trial of run.trials) {
      const common = [run.run.id, ...columns.slice(1, 8).map((column) => trial[column])];
      let bare = true;
      for (const phase of trial.phases) {
        for (const [metric, value] of Object.entries(phase.metrics)) {
          bare = false;
          const bound = phase.lower_bounds.includes(metric);
          yield [...common, phase.name, metric, units[metric], value, phase.missing[metric], bound];
        }
      }
      if (bare) yield [...common, "", "", "", null, trial.reason, false];
    }
  }

  const csv = (run) => {
    const lines = [];
    for (const row of rows(run)) lines.push(row.map(field).join(","), "\n");
    return new Blob(lines, { type: "text/csv" });
  };

  // Browsers limit the length of a link's address, not of a blob: the first link goes by blob too.
  link.addEventListener("click", (event) => {
    event.preventDefault();
    save(archive(), ".json.gz");
  });

  if (typeof DecompressionStream === "undefined") return;
  const offer = (id, make) => {
    const button = document.getElementById(id);
    button.hidden = false;
    button.addEventListener("click", make);
  };
  offer("json", async () => save(await unpacked().blob(), ".json"));
  offer("csv", async () => save(csv(await unpacked().json()), ".csv"));
})();
