// Runs before the first paint, so that a chosen theme never flashes into the other.
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
