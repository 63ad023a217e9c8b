package invariant

// Owned says: operators change only pods that the workload controls, by itself or through the
// ReplicaSets of a Deployment, whatever labels other pods have.
func Owned(l Log, r *Rollout) (wrong []string) {
	controller := map[string]string{}
	ours := map[string]bool{r.Plan.Target.Object().Kind + "/" + r.Name: true}
	for i := range l {
		w := &l[i]
		if w.Resource == "replicasets" && w.Object != nil && ours[controllerOf(w.Object)] {
			ours["ReplicaSet/"+w.Name] = true
		}
		if w.Resource != "pods" {
			continue
		}
		if owner := controllerOf(w.Object); owner != "" {
			controller[w.Name] = owner
		}
		if w.By != "" && w.Done() && !ours[controller[w.Name]] {
			wrong = append(wrong, "the pod belongs to "+controller[w.Name]+": "+w.String())
		}
	}
	return wrong
}

// controllerOf names the kind and the name of an object's controller; "" for none.
func controllerOf(o any) string {
	list, _ := at(o, "metadata", "ownerReferences").([]any)
	for _, ref := range list {
		if at(ref, "controller") == true {
			return Text(ref, "kind") + "/" + Text(ref, "name")
		}
	}
	return ""
}
