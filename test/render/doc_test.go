// Package render holds admission policies that are rendered against a real API
// server: they must let pods in, change them and refuse deletions as the rules of
// the product say.
package render
