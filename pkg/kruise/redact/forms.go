package redact

import (
	"regexp"
	"strings"
	"sync"
)

// form is one way in which a secret is written inside a text. Its pattern has groups for the
// value; the first one that takes part in a match is masked. hint is a literal, in lower case,
// without which no text has the form; those that are byName need a name that [Text] finds, too.
type form struct {
	about   string
	hint    string
	byName  bool
	pattern string
}

// Parts of patterns.
const (
	// named matches a name that suggests a secret, with what is around it in one word.
	named = `(?:[\w.-]*(?:` + Words + `)[\w.-]*|(?:[\w.-]*[_.-])?(?:` + shortWords + `)(?:[_.-][\w.-]*)?)`
	// quotedValue matches a value in quotes, also in those of a text that is quoted itself.
	quotedValue = `\\+"((?:[^"\\]|\\[^"])*)\\+"|"((?:[^"\\]|\\.)*)"|'([^']*)'`
	// wordValue matches a value that ends where the word does.
	wordValue = `([^\s"'\\][^\s"']*)`
)

// forms are all ways that are masked, in the order in which they are looked for. Patterns of tokens
// are those that their issuers document. (The module of gitleaks 8.30, a detector of secrets in source
// code, has 200 modules behind it.)
var forms = []form{
	{"password in a URL", "://", false, `://[^/\s:@"']*:([^\s"'/]+|[^\s@"'/]*[^\d\s@"'/][^\s@"']*)@`},
	{"password in a data source name", "@", false, `(?:^|[\s"'=])[\w.-]+:([^\s@:/"']+)@(?:tcp|unix|udp)?\(`},
	{"header of an authorization", "authorization", false, `(?i)authorization\\?["']?\s*[:=]\s*["']?((?:basic|bearer|digest|token|negotiate|apikey|aws4-hmac-sha256)\s+[^"'\n]+|[^\s"']+)`},
	{"cookie", "cookie", false, `(?i)cookie\\?["']?\s*:\s*["']?([^"'\n]*=[^"'\n]*)`},
	{"bearer token", "bearer ", false, `(?i)\bbearer\s+([\w.~+/=-]*[\d._~+/=-][\w.~+/=-]{7,}|[\w.~+/=-]{24,})`},
	{"header of such a name", ":", true, `(?i)["'\s]x-` + named + `\s*:\s*([^"'\n\s]+)`},
	{"header of a command", ":", true, `(?i)(?:-H|--header)[= ]?\s*["']?` + named + `\s*:\s*([^\s"'\n]+)`},
	{"flag and the word behind it", "-", true, `(?i)(?:^|\s)--?` + named + `\s+(?:` + quotedValue + `|([^\s"'-][^\s"']*))`},
	{"assignment: variable, property, option, parameter of a URL or a connection string", "=", true, `(?i)(?:^|[^\w.-])` + named + `\\?["']?\s*:?=\s*(?:` + quotedValue + `|` + wordValue + `)`},
	{"key of JSON", ":", true, `(?i)[{,]\s*\\*["']` + named + `\\*["']\s*:\s*(?:` + quotedValue + `|([^\s"'\\,}\]{\[][^\s"',}\]]*))`},
	{"key of YAML in braces", ":", true, `(?i)[{,]\s*` + named + `\s*:\s+(?:` + quotedValue + `|([^\s"',}\]{\[][^"',}\]\n]*))`},
	{"block of YAML", ":", true, `(?im)^\s*(?:- )?["']?` + named + `["']?\s*:[ \t]*[|>][-+\d]*[ \t]*\n((?:[ \t]+[^\n]*(?:\n|\z))+)`},
	{"line of YAML or of properties", ":", true, `(?im)^\s*(?:- )?` + named + `\s*:[ \t]+(?:` + quotedValue + `|([^\s"'\\{\[|>][^\n]*))`},
	{"user and password of curl", "-u", false, `(?:^|\s)(?:-u|--user)[= ]?["']?[^\s:"'=]*[^\d\s:"'=][^\s:"'=]*:([^\s"']+)`},
	{"password of mysql", "mysql", false, `(?:^|[\s/])mysql\w*(?:\s[^\n|;&]*)?\s-p([^\s"']+)`},
	{"password of redis-cli", "redis-cli", false, `(?:^|[\s/])redis-cli(?:\s[^\n|;&]*)?\s-a\s+["']?([^\s"']+)`},
	{"password of sshpass", "sshpass", false, `(?:^|[\s/])sshpass\s+-p\s*["']?([^\s"']+)`},
	{"password of openssl", "pass:", false, `\bpass:([^\s"']+)`},
	{"value of a Secret to be", "--from-literal", false, `--from-literal[= ]["']?[^\s="']+=([^\s"']+)`},
	{"signature of a URL", "sig", false, `(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature)=([^\s"'&]+)`},
	{"element of XML", "<", true, `(?i)<` + named + `>([^<]+)<`},
	{"registry's entry of a Docker configuration", "auth", false, `\\*"auth\\*"\s*:\s*\\*"([^"\\]+)\\*"`},
	{"line of redis.conf", "masterauth", false, `(?m)(?:^|\s)(?:--)?masterauth\s+["']?([^\s"']+)`},
	{"line of redis.conf", "requirepass", false, `(?m)^\s*requirepass\s+["']?([^\s"']+)`},
	{"line of .netrc", "machine ", false, `machine\s+\S+\s+login\s+\S+\s+password\s+(\S+)`},
	{"JSON web token", "eyj", false, `\b(eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*)`},
	{"private key", "private key-----", false, `-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----((?s).*?)(?:-----END|\z)`},
	{"token of GitHub", "gh", false, `\b(gh[pousr]_\w{20,})`},
	{"token of GitHub", "github_pat_", false, `\b(github_pat_\w{20,})`},
	{"token of GitLab", "glpat-", false, `\b(glpat-[\w-]{20,})`},
	{"token of Slack", "xox", false, `\b(xox[abeoprs]-[\w-]{10,})`},
	{"hook of Slack", "hooks.slack.com/", false, `hooks\.slack\.com/(?:services|workflows)/(\S+)`},
	{"key of Stripe", "k_", false, `\b([rs]k_(?:live|test)_\w{10,})`},
	{"key of AWS", "akia", false, `\b(AKIA[0-9A-Z]{16})\b`},
	{"key of Google", "aiza", false, `\b(AIza[\w-]{35})`},
	{"token of npm", "npm_", false, `\b(npm_\w{36})`},
	{"key of SendGrid", "sg.", false, `\b(SG\.[\w-]{16,}\.[\w-]{16,})`},
}

// shortestToken is the length of the shortest token, in bytes, that is known by its shape alone and has no
// separator in it: AWS's.
const shortestToken = 20

// compiled are the patterns of forms, each from its first use on.
var compiled = func() (out []func() *regexp.Regexp) {
	for _, f := range forms {
		out = append(out, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(f.pattern) }))
	}
	return out
}()

var (
	// reference is a value that stands for one that is elsewhere, a variable that Kubernetes or a
	// shell puts in or kubectl describes, or that is none.
	reference = regexp.MustCompile(`^(?:\$\(\w+\)|\$\{\w+\}|<set to the key .*|true|false|null|~)$`)
	// about is what is before the value of a name that says where a secret is, or something else
	// about it: secretName, tokenExpirationSeconds, --password-file.
	about = regexp.MustCompile(`(?i)(?:name|names|ref|refs|seconds|file|path|dir|type|mode|policy|ttl|length|enabled)\\*["']?\s*[:=]*\s*\\*["']?$`)
)

// Inside returns a text with [Masked] in place of what is likely to be secret in it: the values of
// names that suggest a secret, in the forms of command lines, URLs, headers, JSON, YAML and others,
// and tokens that are known by their shape.
func Inside(text string) string {
	if len(text) < shortestToken && !strings.ContainsAny(text, "=: -._<") {
		return text // a word
	}
	low := strings.ToLower(text)
	byName := near.MatchString(low)
	for i, f := range forms {
		if (byName || !f.byName) && strings.Contains(low, f.hint) {
			text = f.masked(compiled[i](), text)
		}
	}
	return text
}

// masked replaces the first group of each match that takes part in it.
func (f form) masked(is *regexp.Regexp, text string) string {
	var b strings.Builder
	at := 0
	for _, m := range is.FindAllStringSubmatchIndex(text, -1) {
		for g := 2; g < len(m); g += 2 {
			from, to := m[g], m[g+1]
			if from < 0 {
				continue
			}
			if value := text[from:to]; value != "" && !strings.Contains(value, Masked) && !reference.MatchString(value) && (!f.byName || !about.MatchString(text[m[0]:from])) {
				b.WriteString(text[at:from])
				b.WriteString(Masked)
				at = to
			}
			break
		}
	}
	if at == 0 {
		return text
	}
	return b.String() + text[at:]
}
