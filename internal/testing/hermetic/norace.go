//go:build !race

package hermetic

// Race reports whether tests run with the race detector, which makes them take about ten times
// the CPU time and several times the memory.
const Race = false
