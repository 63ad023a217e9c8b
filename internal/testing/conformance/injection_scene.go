package conformance

// InjectionScene returns the input of a case of that area as the engine gets it:
// what is rendered, and what exists besides.
func InjectionScene(c Case) (stream, context []map[string]any, err error) {
	s, err := readScene(c)
	if err != nil {
		return nil, nil, err
	}
	return s.stream, s.context, nil
}

// Subject returns a copy of the pod that the only pod or workload among docs is or
// makes, nil when there is none.
func Subject(docs []map[string]any) map[string]any { return (&scene{}).subject(docs) }
