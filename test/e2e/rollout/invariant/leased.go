package invariant

import "time"

// Leased says: who writes to the workload, its pods or its record has the Lease: they renewed
// it last, no longer ago than it lasts, and have not let go of it. Another process that takes it
// over has seen it unchanged for as long, so no two of them write at a time. A command
// that only changes the record needs none: the record's version is its precondition.
func Leased(l Log, _ *Rollout) (wrong []string) {
	ends := map[string]time.Time{}
	for i := range l {
		w := &l[i]
		switch {
		case w.By == "":
		case w.Resource == "leases":
			if w.Done() {
				ends[w.By] = leaseEnd(w)
			}
		case w.Resource != "events" && w.Resource != "selfsubjectaccessreviews":
			end, ever := ends[w.By]
			switch {
			case !ever && w.Resource == "configmaps" && Text(w.Body, "metadata", "resourceVersion") != "":
			case end.IsZero():
				wrong = append(wrong, "without the lease: "+w.String())
			case w.At.After(end):
				wrong = append(wrong, "the lease ended at "+end.Format("05.000")+": "+w.String())
			}
		}
	}
	return wrong
}

// leaseEnd is until when a write holds the lease, by the server's clock; zero where it
// lets go.
func leaseEnd(w *Write) time.Time {
	seconds, _ := at(w.Object, "spec", "leaseDurationSeconds").(float64)
	if Text(w.Object, "spec", "holderIdentity") == "" {
		return time.Time{}
	}
	return w.At.Add(time.Duration(seconds) * time.Second)
}
