// Package readers has tests in which other programs read reports: HdrHistogram's library for Java, gnuplot and
// benchstat. Run them by make test-readers, which installs these programs.
package readers
