// The parts of Observable Plot that pages use, bundled into templates/plot.min.js by `make report-library`.
export { areaY, barX, dot, line, link, plot, pointer, pointerY, ruleX, ruleY, text, tip } from "@observablehq/plot";
