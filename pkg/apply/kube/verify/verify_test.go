package verify

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// found is an answer without the reason that is stored.
func found(a Answer) Answer {
	a.Reason = ""
	return a
}

// TestReason_HoldsNothingOfTheAnswer: whatever a server or a program answers, none of it is in what is stored.
func TestReason_HoldsNothingOfTheAnswer(t *testing.T) {
	const secret = "AKIAsecret"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "http://"+secret+".example.com/", http.StatusFound)
		case "/bad":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, secret)
		case "/reset":
			w.Header().Set("Content-Length", "1")
			fmt.Fprint(w, secret+secret)
		case "/error/api/v1/query":
			fmt.Fprintf(w, `{"status":"error","error":%q}`, secret)
		case "/type/api/v1/query":
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[]}}`, secret)
		case "/value/api/v1/query":
			fmt.Fprint(w, vector(secret))
		case "/number/api/v1/query":
			fmt.Fprint(w, vector("4711"))
		case "/text":
			fmt.Fprint(w, secret)
		default:
			fmt.Fprintf(w, `{"key": %q, %q: 1}`, secret, secret)
		}
	}))
	defer server.Close()
	for name, v := range map[string]plan.Verify{
		"another value":    {URL: server.URL, JSONPath: ".key", Value: "x"},
		"all of it":        {URL: server.URL, JSONPath: "@", Value: "x"},
		"no JSON":          {URL: server.URL + "/text", JSONPath: ".key", Value: "x"},
		"bad":              {URL: server.URL + "/bad"},
		"broken":           {URL: server.URL + "/reset", JSONPath: ".key", Value: "x"},
		"redirect":         {URL: server.URL + "/moved"},
		"no such name":     {URL: "http://" + secret + ".invalid/"},
		"Prometheus error": {Prometheus: server.URL + "/error", Query: "q", Threshold: "< 1"},
		"Prometheus type":  {Prometheus: server.URL + "/type", Query: "q", Threshold: "< 1"},
		"Prometheus value": {Prometheus: server.URL + "/value", Query: "q", Threshold: "< 1"},
		"a number":         {Prometheus: server.URL + "/number", Query: "q", Threshold: "< 1"},
		"output":           {Command: []string{"sh", "-c", "echo " + secret + "; exit 3"}},
		"good output":      {Command: []string{"echo", secret}},
		"no program":       {Command: []string{"/" + secret}},
	} {
		a := Once(t.Context(), &v, Permissions{Commands: true})
		if a.Reason == "" || strings.Contains(a.Reason, secret) || strings.Contains(a.Reason, "4711") {
			t.Errorf("%s: %q is stored of %q", name, a.Reason, a.Text)
		}
	}
}

// TestCommand_ExitCodeDecides: the exit code decides, the last line is the text.
func TestCommand_ExitCodeDecides(t *testing.T) {
	t.Setenv("SHOP_TOKEN", "hunter22")
	for name, c := range map[string]struct {
		script string
		good   bool
		text   string
	}{
		"good":          {"echo one; echo two", true, "two"},
		"says nothing":  {"true", true, "exit code 0"},
		"bad":           {"echo p99 is 3 s >&2; exit 3", false, "exit status 3: p99 is 3 s"},
		"bad, silently": {"exit 1", false, "exit status 1"},
		"a secret":      {"echo token $SHOP_TOKEN was refused; exit 1", false, "exit status 1: token *** was refused"},
		"escapes":       {`printf '\033[31mred\033[0m\n'`, true, "[31mred[0m"},
		"much":          {"i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done", true, "line 4999"},
	} {
		t.Run(name, func(t *testing.T) {
			a := Once(t.Context(), &plan.Verify{Command: []string{"sh", "-c", c.script}}, Permissions{Commands: true})
			if found(a) != (Answer{Good: c.good, Text: c.text}) {
				t.Errorf("%+v", a)
			}
		})
	}
	if a := Once(t.Context(), &plan.Verify{Command: []string{"./no-such-program"}}, Permissions{Commands: true}); a.Good || !strings.Contains(a.Text, "no-such-program") {
		t.Errorf("%+v", a)
	}
}

// TestURL_StatusAndJSONPathDecide: status and JSONPath decide; the address is never in the text.
func TestURL_StatusAndJSONPathDecide(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			fmt.Fprint(w, `{"status": "up", "checks": [{"name": "db", "ok": true}]}`)
		case "/moved":
			w.WriteHeader(http.StatusTeapot)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		verify plan.Verify
		want   Answer
	}{
		"good":            {plan.Verify{URL: "/healthz"}, Answer{Good: true, Text: "status 200"}},
		"bad":             {plan.Verify{URL: "/x"}, Answer{Good: false, Text: "status 503"}},
		"another status":  {plan.Verify{URL: "/moved", Status: 418}, Answer{Good: true, Text: "status 418"}},
		"not that status": {plan.Verify{URL: "/healthz", Status: 204}, Answer{Good: false, Text: "status 200, not 204"}},
		"value":           {plan.Verify{URL: "/healthz", JSONPath: "{.status}", Value: "up"}, Answer{Good: true, Text: `{.status} is "up"`}},
		"without braces":  {plan.Verify{URL: "/healthz", JSONPath: ".checks[?(@.name=='db')].ok", Value: "true"}, Answer{Good: true, Text: `.checks[?(@.name=='db')].ok is "true"`}},
		"other value":     {plan.Verify{URL: "/healthz", JSONPath: ".status", Value: "down"}, Answer{Good: false, Text: `.status is "up", not "down"`}},
		"no such field":   {plan.Verify{URL: "/healthz", JSONPath: ".nothing", Value: "up"}, Answer{Good: false, Text: ".nothing: nothing is not found"}},
		"no JSON":         {plan.Verify{URL: "/moved", Status: 418, JSONPath: ".a", Value: "up"}, Answer{Good: false, Text: ".a: the answer is not JSON: unexpected end of JSON input"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.verify.URL = server.URL + c.verify.URL
			if a := Once(t.Context(), &c.verify, Permissions{}); found(a) != c.want {
				t.Errorf("%+v", a)
			}
		})
	}
	address := strings.Replace(server.URL, "http://", "http://me:hunter2@", 1)
	server.Close()
	if a := Once(t.Context(), &plan.Verify{URL: address + "/?token=abc"}, Permissions{}); a.Good || a.Text == "" || strings.Contains(a.Text, "hunter2") || strings.Contains(a.Text, "abc") {
		t.Errorf("%+v", a)
	}
}

// TestPrometheus_EveryValueCounts: every value counts, and none is not good.
func TestPrometheus_EveryValueCounts(t *testing.T) {
	for name, c := range map[string]struct {
		body, threshold string
		status          int
		want            Answer
	}{
		"scalar":         {`{"status":"success","data":{"resultType":"scalar","result":[1,"0.005"]}}`, "< 0.01", 200, Answer{Good: true, Text: "0.005: < 0.01"}},
		"one of vector":  {vector("0.001", "0.02"), "< 0.01", 200, Answer{Good: false, Text: "0.02 is not < 0.01"}},
		"all of vector":  {vector("0.001", "0.002"), "<0.01", 200, Answer{Good: true, Text: "2 values: <0.01"}},
		"empty vector":   {vector(), "< 0.01", 200, Answer{Good: false, Text: "the query gives no value"}},
		"not a number":   {vector("NaN"), "< 0.01", 200, Answer{Good: false, Text: "NaN is not < 0.01"}},
		"not equal, NaN": {vector("NaN"), "!= 0", 200, Answer{Good: false, Text: "NaN is not != 0"}},
		"at least":       {vector("3"), ">= 3", 200, Answer{Good: true, Text: "3: >= 3"}},
		"equal":          {vector("3"), "== 4", 200, Answer{Good: false, Text: "3 is not == 4"}},
		"infinite":       {vector("+Inf"), "< 1", 200, Answer{Good: false, Text: "+Inf is not < 1"}},
		"a matrix":       {`{"status":"success","data":{"resultType":"matrix","result":[]}}`, "< 1", 200, Answer{Good: false, Text: "the query gives a matrix, not a vector or a scalar"}},
		"bad query":      {`{"status":"error","error":"parse error"}`, "< 1", 400, Answer{Good: false, Text: "status 400: parse error"}},
		"no Prometheus":  {`<html>`, "< 1", 404, Answer{Good: false, Text: "status 404"}},
		"bad threshold":  {vector("1"), "below 1", 200, Answer{Good: false, Text: `"below 1" is not a threshold such as "< 0.01"`}},
		"no threshold":   {vector("1"), "<", 200, Answer{Good: false, Text: `"<" is not a threshold such as "< 0.01"`}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/prom/api/v1/query" || r.URL.Query().Get("query") != "errors > 0" {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			if a := Once(t.Context(), &plan.Verify{Prometheus: server.URL + "/prom/", Query: "errors > 0", Threshold: c.threshold}, Permissions{}); found(a) != c.want {
				t.Errorf("%+v", a)
			}
		})
	}
}

func vector(values ...string) string {
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf(`{"metric":{},"value":[1,%q]}`, v))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(list, ",") + `]}}`
}

// TestUntil_EndsWithFirstGoodAttempt: the first good attempt ends it, and so do all bad ones, and the end of
// the context. Between two attempts passes the time that the plan says, or the usual one.
func TestUntil_EndsWithFirstGoodAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		ends     bool
		every    time.Duration
		attempts int
		goodAt   int
		want     Answer
		told     int
		took     time.Duration
	}{
		"at once":    {false, time.Minute, 0, 1, Answer{Good: true, Text: "try 1"}, 0, 0},
		"never":      {false, time.Minute, 0, 9, Answer{Good: false, Text: "try 1"}, 0, 0},
		"third":      {false, time.Minute, 5, 3, Answer{Good: true, Text: "try 3"}, 2, 2 * time.Minute},
		"by default": {false, 0, 5, 3, Answer{Good: true, Text: "try 3"}, 2, 2 * byDefault},
		"not enough": {false, time.Minute, 2, 3, Answer{Good: false, Text: "try 2 (attempt 2 of 2)"}, 1, time.Minute},
		"ended":      {true, time.Minute, 9, 9, Answer{Good: false, Text: "try 1 (attempt 1 of 9)"}, 1, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				told, began := 0, time.Now()
				a := Until(ctx, &plan.Verify{Every: plan.Duration(c.every), Attempts: c.attempts}, func(_ context.Context, n int) Answer {
					return Answer{Good: n == c.goodAt, Text: fmt.Sprintf("try %d", n)}
				}, func(Answer) {
					if told++; c.ends {
						time.AfterFunc(30*time.Second, cancel)
					}
				})
				if took := time.Since(began); found(a) != c.want || told != c.told || took != c.took {
					t.Errorf("%+v, told %d, after %s", a, told, took)
				}
			})
		})
	}
}
