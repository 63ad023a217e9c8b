package plan

// Preventions are the names of what native parents prevent, for tests.
func Preventions() (names []string) {
	for _, row := range preventions {
		names = append(names, row.name)
	}
	return names
}
