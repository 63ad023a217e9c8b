package schema

// samples are values that the schema allows. Both of a boolean, because one of
// them may be the older version's default and be left out.
func samples(s *Schema) []any {
	switch {
	case s.Ref != "" || s.Type == "object" || s.Type == "" && len(s.AnyOf) == 0:
		return []any{Anything()}
	case len(s.Enum) > 0:
		return []any{s.Enum[0]}
	case s.Type == "string":
		return []any{"x"}
	case s.Type == "boolean":
		return []any{true, false}
	}
	return []any{7}
}
