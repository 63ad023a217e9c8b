// Package testenv names the environment variables by which a run of the tests and its test
// binaries know of each other. Tools may import it; package hermetic is for test binaries alone.
package testenv

const (
	// Servers names the folder with the servers of the test cluster.
	Servers = "KUBECTL_KRUISE_SERVERS"
	// Product is the path of the product that package testrun has built.
	Product = "KUBECTL_KRUISE_TEST_PRODUCT"
	// ProductSum is the checksum of that file: go test runs suites again when it changes.
	ProductSum = "KUBECTL_KRUISE_TEST_PRODUCT_SUM"
	// Tools indicates that GOGC is for the go command alone, so that tests do not see it.
	Tools = "KUBECTL_KRUISE_TEST_TOOLS"
	// Spent asks a test binary for a last line with the processor time of the tests, which
	// package testrun lists.
	Spent = "KUBECTL_KRUISE_TEST_SPENT"
	// Hermetic indicates that the environment is that of a test binary already: the processes
	// that it starts keep it.
	Hermetic = "KUBECTL_KRUISE_HERMETIC"
)

// SpentLine begins the line that Spent asks for. A duration follows.
const SpentLine = "processor time: "
