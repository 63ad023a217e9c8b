package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// query asks a Prometheus server, by its HTTP API: every value must be true under
// the threshold. No value at all is no good answer: nothing was measured.
func query(ctx context.Context, may Permissions, v *plan.Verify) Answer {
	bound, err := parseThreshold(v.Threshold)
	if err != nil {
		return failed(err)
	}
	values, err := queryNow(ctx, may, v.Prometheus, v.Query)
	if err != nil {
		return failed(err)
	}
	if len(values) == 0 {
		return said(false, "the query gives no value")
	}
	for _, value := range values {
		if !bound.holds(value) {
			return Answer{Text: fmt.Sprintf("%s is not %s", number(value), strings.TrimSpace(v.Threshold)), Reason: "a value is not " + strings.TrimSpace(v.Threshold)}
		}
	}
	text := number(values[0])
	if len(values) > 1 {
		text = fmt.Sprintf("%d values", len(values))
	}
	return Answer{true, fmt.Sprintf("%s: %s", text, strings.TrimSpace(v.Threshold)), "every value is " + strings.TrimSpace(v.Threshold)}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// threshold is a bound of values.
type threshold struct {
	operator string
	limit    float64
}

// operators are those of thresholds, the longer ones first.
var operators = []string{"<=", ">=", "==", "!=", "<", ">"}

// parseThreshold reads an operator and a number, such as "< 0.01".
func parseThreshold(text string) (threshold, error) {
	for _, o := range operators {
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), o)
		if !ok {
			continue
		}
		limit, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
		if err != nil {
			break
		}
		return threshold{o, limit}, nil
	}
	return threshold{}, reason(fmt.Sprintf("%q is not a threshold such as \"< 0.01\"", text))
}

// holds reports whether a value is within the bound. Nothing is true of a value that is not a number.
func (t threshold) holds(v float64) bool {
	switch t.operator {
	case "<=":
		return v <= t.limit
	case ">=":
		return v >= t.limit
	case "==":
		return v == t.limit
	case "!=":
		return v != t.limit && v == v
	case "<":
		return v < t.limit
	}
	return v > t.limit
}

// queryResponse is what the HTTP API of Prometheus answers.
type queryResponse struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// queryNow returns the values of a query now.
func queryNow(ctx context.Context, may Permissions, server, query string) ([]float64, error) {
	base, err := url.Parse(server)
	if err != nil {
		return nil, withoutAddress(err)
	}
	at := base.JoinPath("api/v1/query")
	at.RawQuery = url.Values{"query": {query}}.Encode()
	status, body, err := get(ctx, may, at.String())
	if err != nil {
		return nil, err
	}
	var a queryResponse
	switch err := json.Unmarshal(body, &a); {
	case err != nil && status != http.StatusOK:
		return nil, reason(fmt.Sprintf("status %d", status))
	case err != nil:
		return nil, fmt.Errorf("the answer is not Prometheus's: %w", err)
	case a.Status != "success":
		return nil, fmt.Errorf("status %d: %s", status, truncate(a.Error))
	}
	return valuesOf(a)
}

// sample is a time and a value, which is a string.
type sample [2]any

func (s sample) value() (float64, error) {
	text, ok := s[1].(string)
	if !ok {
		return 0, errors.New("a value is not text")
	}
	return strconv.ParseFloat(text, 64)
}

func valuesOf(a queryResponse) ([]float64, error) {
	var samples []sample
	var err error
	switch a.Data.Type {
	case "scalar":
		samples = make([]sample, 1)
		err = json.Unmarshal(a.Data.Result, &samples[0])
	case "vector":
		var list []struct{ Value sample }
		err = json.Unmarshal(a.Data.Result, &list)
		for _, item := range list {
			samples = append(samples, item.Value)
		}
	default:
		return nil, fmt.Errorf("the query gives a %s, not a vector or a scalar", a.Data.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer is not Prometheus's: %w", err)
	}
	out := make([]float64, len(samples))
	for i, s := range samples {
		if out[i], err = s.value(); err != nil {
			return nil, fmt.Errorf("the answer is not Prometheus's: %w", err)
		}
	}
	return out, nil
}
