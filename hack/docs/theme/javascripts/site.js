// What is wider than the page can be scrolled by keyboard.
const reachable = () => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    part.tabIndex = part.scrollWidth > part.clientWidth ? 0 : -1;
  }
};
addEventListener("load", () => {
  reachable();
  new ResizeObserver(reachable).observe(document.body);
});
