package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// written are ways in which people write a secret, §, into arguments, scripts, configurations and
// addresses.
var written = []string{
	// command lines
	`sh -c "export TOKEN=§ && ./run"`, `export TOKEN="§ two"; run`, `AWS_SECRET_ACCESS_KEY=§`, `env DB_PASS=§ ./run`, `PGPASSWORD='§ two' psql`,
	`--set=db.password=§`, `--set db.password=§`, `--set=a=1,db.password=§`, `--password §`, `--password=§`, `--password "§ two"`, `-password §`, `--db-pass §`, `--jwt §`,
	`run --api-key § --port 1`, `--apiKey=§`, `--client-secret '§'`, `DSN=§`, `JWT=§`, `MY_PWD=§`, `SIGNING_KEY=§`, `ACCOUNT_KEY=§`,
	`curl -u admin:§ https://host`, `curl --user admin:§ https://host`, `curl -uadmin:§ https://host`, `mysql -uroot -p§ db`, `mysqldump --single-transaction -p§`,
	`redis-cli -h host -a § ping`, `sshpass -p § ssh host`, `sshpass -p§ ssh host`, "machine host login me password §",
	`--requirepass §`, "port 1\nrequirepass §\nmasterauth §\n", `openssl enc -pass pass:§`, `kubectl create secret generic a --from-literal=key=§`, `-Dspring.datasource.password=§`, `dbPass=§`, `STORAGE_KEY=§`, `--pw §`, `//registry/:_authToken=§`,
	`user=a&pass=§`,
	// addresses
	`DATABASE_URL=postgres://app:§@db:5432/app?sslmode=disable`, `postgres://app:§@db/app`, `amqp://:§@mq`, `redis://default:a@§@cache:6379`, `mongodb://u:§@a:1,b:2/db`,
	`app:§@tcp(db:3306)/app`, `https://host/hook?token=§`, `https://host/a?b=c&api_key=§`, `https://user:§/x@host/`,
	`host=db user=app password=§ dbname=app`, `Server=db;User Id=app;Password=§;`, `DefaultEndpointsProtocol=https;AccountKey=§==;EndpointSuffix=core`,
	`jdbc:mysql://db/app?user=app&password=§`, `https://a.blob.core.windows.net/c?sv=1&sig=§`, `https://hooks.slack.com/services/T0/B0/§`,
	// headers
	`Authorization: Bearer §`, `curl --header "PRIVATE-TOKEN: §" https://host`, `curl -H "Authorization: Bearer §" https://host`, `curl -H 'authorization: Basic §' https://host`, `curl -H Authorization: Bearer § https://host`,
	`{"Authorization":"Token §"}`, `X-Api-Key: §`, `curl -H "X-Auth-Token: §" https://host`, `Cookie: session=§`, `Bearer §0123456789`, `{"authorization": "§"}`,
	// JSON
	`{"password":"§"}`, `{"user": "a", "db_password": "§", "c": 1}`, `{"a": {"clientSecret": "§"}}`, `{'token': '§'}`, `{"a":"{\"password\":\"§\"}"}`, `{"secret": §}`,
	// YAML, properties and TOML
	"user: a\npassword: §\n", "db:\n  password: '§ two'\n", "- token: §\n", "{user: a, password: §}", "password: |\n  §\n  §\nuser: a\n", "spring.datasource.password=§\n", "db.password = §\n", "[db]\npassword = \"§\"\n", "apiKey: § # of the test",
	`{"auths":{"host":{"auth":"§"}}}`, "<db><password>§</password></db>",
	"<add key=\"a\" password=\"§\" />",
	// keys
	"-----BEGIN RSA PRIVATE KEY-----\n§\n§\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n§",
}

// issued are tokens that are known by their shape, wherever they are.
var issued = []string{
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "github_pat_0123456789abcdefghijABCD", "glpat-0123456789abcdefghij",
	"xoxb-0123456789-abcdefghij", "sk_live_0123456789abcdef", "AKIAIOSFODNN7EXAMPLE", "AIza0123456789abcdefghijABCDEFGHIJ01234", "npm_0123456789abcdefghijABCDEFGHIJ012345", "SG.0123456789abcdefg.0123456789abcdefghij",
}

// ordinary are texts that look a little like the others and have no secret.
var ordinary = []string{
	"nginx:1.27", "docker.io/library/app@sha256:0123456789abcdef", "a=b", "--port=8080", "--bypass on", "compass: north", "--user=1000:1000", "docker run -u 1000:1000 image", "https://host:8080/a@b",
	"http://host/path?a=b", "spec.template.spec.containers[0].image: Invalid value", "no matches for Id Secret.v1.[noGrp]/db.[noNs]; failed to find unique target", "basic authentication is off", "the bearer token is missing",
	"--password=$(DB_PASSWORD)", "password: ${DB_PASSWORD}", "--token $(TOKEN)", "trouble configuring builtin SecretGenerator with its config: must specify", "evalsymlink failure on '/a/secrets/db.yaml' : lstat /a/secrets: no such file or directory",
	"pod web-0: secret \"db\" not found", "ls -private", "automountServiceAccountToken", "machine learning", "sleep 3600", "mysql -h db -u root", "redis-cli ping", "2026-11-27T21:49:09Z", "app.kubernetes.io/name: web",
	"SecretName:  web-tls", "API_TOKEN:  <set to the key 'token' in secret 'web'>  Optional: false", "TokenExpirationSeconds: 3607", "automountServiceAccountToken: true", `{"secretName":"db","tokenTTL":5}`, "--password-file=/run/secrets/db", `MountVolume.SetUp failed for volume "api-token" : secret "db" not found`,
}

// TestInside_MasksEachForm: nothing of a secret is left, in whichever form it is written, and what is
// around it is.
func TestInside_MasksEachForm(t *testing.T) {
	for _, text := range written {
		in := strings.ReplaceAll(text, "§", "Zebra7hunter")
		got := Inside(in)
		if strings.Contains(got, "Zebra") || strings.Contains(got, "hunter") || strings.Contains(got, " two") || !strings.Contains(got, Masked) {
			t.Errorf("%q becomes %q", in, got)
		}
		if again := Inside(got); again != got {
			t.Errorf("%q becomes %q when it is masked again", got, again)
		}
	}
	for _, token := range issued {
		for _, in := range []string{token, "run " + token + " now", `["` + token + `"]`} {
			if got := Inside(in); strings.Contains(got, token[8:]) || !strings.Contains(got, Masked) {
				t.Errorf("%q becomes %q", in, got)
			}
		}
	}
	if got, want := Inside(`{"a": 1, "password":"x\"y", "b": 2}`), `{"a": 1, "password":"***", "b": 2}`; got != want || !json.Valid([]byte(got)) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Inside("user: a\npassword: x\nport: 1\n"), "user: a\npassword: ***\nport: 1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInside_LeavesOrdinaryWords: what is no secret stays as it is.
func TestInside_LeavesOrdinaryWords(t *testing.T) {
	for _, text := range ordinary {
		if got := Inside(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestForms_AreAllTested: each form masks something that no other one does, in the texts of these tests.
func TestForms_AreAllTested(t *testing.T) {
	var texts []string
	for _, text := range slices.Concat(written, issued) {
		texts = append(texts, strings.ReplaceAll(text, "§", "Zebra7hunter"))
	}
	for i, f := range forms {
		if !slices.ContainsFunc(texts, func(text string) bool { return f.masked(compiled[i](), text) != text }) {
			t.Errorf("no text of the tests has the form %q", f.about)
		}
		if f.hint != strings.ToLower(f.hint) {
			t.Errorf("%q: the hint %q is not in lower case", f.about, f.hint)
		}
	}
}

// TestMessage_KeepsWordsOfLibraries: words of kustomize and of the system are no values.
func TestMessage_KeepsWordsOfLibraries(t *testing.T) {
	known := Names{}
	known.Add("/a/does-not-exist.yaml")
	for said, want := range map[string]string{
		"trouble configuring builtin HelmChartInflationGenerator with its config: must specify --enable-helm": "trouble configuring builtin HelmChartInflationGenerator with its config: must specify --enable-helm",
		"lstat /a/does-not-exist.yaml: no such file or directory":                                             "lstat /a/does-not-exist.yaml: no such file or directory",
		"open /a/does-not-exist.yaml: no such file or directory":                                              "open /a/does-not-exist.yaml: no such file or directory",
	} {
		if got := Message(said, known, "with its config:"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
