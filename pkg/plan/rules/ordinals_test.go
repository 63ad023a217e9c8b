package rules

import (
	"slices"
	"testing"
)

func TestOrdinals_LastOfTwoPodsWithOneOrdinalCounts(t *testing.T) {
	s := statefulSet(t, "replicas: 2\npodManagementPolicy: Parallel", "0o 1o 01n")
	if got := names(fromTheTop(s.Arrange().slots)); got != "web-01 web-0" {
		t.Errorf("slots hold %s", got)
	}
	s.Pods = s.Pods[:2]
	if got := names(fromTheTop(s.Arrange().slots)); got != "web-1 web-0" {
		t.Errorf("after one has gone, slots hold %s", got)
	}
}

func TestPlaces_FromALimitAndHighest(t *testing.T) {
	places := []int{0, 63, 64, 129}
	for n, want := range [][]int{{}, {129}, {64, 129}, {63, 64, 129}, places, places} {
		if got := highest(places, n); !slices.Equal(got, want) {
			t.Errorf("the %d highest: %v", n, got)
		}
	}
	for limit, want := range map[int]int{-1: 4, 0: 4, 1: 3, 63: 3, 64: 2, 65: 1, 129: 1, 130: 0, 500: 0} {
		if got := len(from(places, limit)); got != want {
			t.Errorf("%d numbers from %d on, want %d", got, limit, want)
		}
	}
}
