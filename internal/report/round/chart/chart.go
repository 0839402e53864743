// Package chart draws what a round of a Benchmark, or a comparison, says. Each picture has a model with the figures
// and a function that draws it. Models only hold what packages benchmark and round decided.
package chart
