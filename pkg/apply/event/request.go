package event

// Request is one write of an API server, as it would be sent.
type Request struct {
	// Type is always "request": among JSON lines it tells requests from events.
	Type   string `json:"type"`
	Method string `json:"method"`
	// Path begins with /api or /apis; parameters are those that belong to the request
	// itself, such as the command of an exec.
	Path        string `json:"path"`
	ContentType string `json:"contentType,omitempty"`
	// Why says what a rollout wants with it.
	Why string `json:"why,omitempty"`
	// Body is JSON as Go has it; it may hold secrets.
	Body any `json:"body,omitempty"`
}
