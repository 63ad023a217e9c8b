package view

import (
	"io"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// The part of SARIF 2.1.0 that is written here. The libraries for it also read and
// validate, and bring a JSON schema engine that nobody keeps any more.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	// sarifLogical is an object that stands in no file.
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifPhysical struct {
		Artifact *sarifArtifact `json:"artifactLocation,omitempty"`
		Region   sarifRegion    `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

var sarifLevel = map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "note"}

// SARIF writes the form that code scanning services read, with the rules that
// were met.
func (p Problems) SARIF(w io.Writer, rules []lint.Rule, version string) error {
	driver := sarifDriver{Name: "kubectl-kruise", InformationURI: "https://github.com/kubectl-kruise/kubectl-kruise", Version: version, Rules: []sarifRule{}}
	index := map[string]int{}
	for _, r := range rules {
		if slices.ContainsFunc(p, func(one lint.Problem) bool { return one.Rule == r.ID }) {
			index[r.ID] = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRule{ID: r.ID, Short: sarifText{r.Doc}})
		}
	}
	run := sarifRun{Tool: sarifTool{driver}, Results: []sarifResult{}}
	for _, one := range p {
		run.Results = append(run.Results, resultOf(one, index[one.Rule]))
	}
	return JSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func resultOf(p lint.Problem, rule int) sarifResult {
	text := said(p)
	if p.Hint != "" {
		text += ". " + p.Hint
	}
	return sarifResult{
		RuleID: p.Rule, RuleIndex: rule, Level: sarifLevel[p.Severity],
		Message: sarifText{text}, Locations: locationsOf(p),
	}
}

// locationsOf is where the problem stands; what is about all of the input stands nowhere.
func locationsOf(p lint.Problem) []sarifLocation {
	switch {
	case fileless(p) && objectless(p):
		return []sarifLocation{}
	case fileless(p):
		return []sarifLocation{{Logical: []sarifLogical{{p.Object.String(), "resource"}}}}
	}
	at := &sarifPhysical{Region: sarifRegion{max(p.Line, 1)}}
	if p.File != "" {
		at.Artifact = &sarifArtifact{URI: p.File}
	}
	return []sarifLocation{{Physical: at}}
}
