package check

import (
	"errors"
	"strings"
	"time"
	_ "time/tzdata" // the same answer on every machine

	"github.com/robfig/cron/v3"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// schedule: five fields of cron or a word such as @daily, and one time zone.
func (s *subject) schedule(spec *kruise.AdvancedCronJobSpec) {
	const path = "spec.schedule"
	if spec.TimeZone != nil && strings.Contains(spec.Schedule, "TZ=") {
		s.fault(path, "keep one of the two", "a time zone is set in the schedule and in timeZone")
	}
	if err := parseSchedule(spec.Schedule); err != nil {
		s.fault(path, `write five fields, such as "15 2 * * *"`, "%q: %v", spec.Schedule, err)
	}
	if spec.TimeZone != nil {
		s.zone("spec.timeZone", *spec.TimeZone)
	}
}

// parseSchedule guards against the library, which panics on a time zone without
// a schedule behind it.
func parseSchedule(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("not a schedule")
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zone: a name that means the same everywhere.
func (s *subject) zone(path, name string) {
	if name == "" || strings.EqualFold(name, "local") {
		s.fault(path, "write a name such as Europe/Berlin", "%q is not an explicit time zone", name)
	} else if _, err := time.LoadLocation(name); err != nil {
		s.fault(path, "write a name such as Europe/Berlin", "%v", err)
	}
}
