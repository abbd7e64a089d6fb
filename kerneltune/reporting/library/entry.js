// The parts of Observable Plot that reports use, bundled into templates/plot.min.js by `make report-library`.
export { barX, dot, line, link, plot, pointer, ruleX, text, tip } from "@observablehq/plot";
