package cluster

import (
	"maps"
	"slices"
)

// Kin has pods of one owner hold only once what they have in common: maps, lists and
// texts. Of ten thousand pods that is two thirds. Its zero value is ready.
type Kin struct{ last map[string]*Pod }

// kinMost bounds how many owners are remembered: pods of one come together.
const kinMost = 1 << 10

// Join has a pod take what is equal in the last one of its owner. It is for whoever has
// made the pod, before anybody else sees it, and before [Pod.Digest].
func (k *Kin) Join(p *Pod) {
	if like := k.last[p.Owner.UID]; like != nil {
		p.take(like)
	}
	if k.last == nil || len(k.last) >= kinMost {
		k.last = map[string]*Pod{}
	}
	k.last[p.Owner.UID] = p
}

func (p *Pod) take(like *Pod) {
	if len(p.Labels) > 0 && maps.Equal(p.Labels, like.Labels) {
		p.Labels = like.Labels
	}
	if len(p.Annotations) > 0 && maps.Equal(p.Annotations, like.Annotations) {
		p.Annotations = like.Annotations
	}
	takeList(&p.Containers, like.Containers, (*Container).take)
	takeList(&p.InitContainers, like.InitContainers, (*Container).take)
	takeList(&p.Conditions, like.Conditions, (*Condition).take)
	takeList(&p.ReadinessGates, like.ReadinessGates, takeText)
	takeList(&p.Finalizers, like.Finalizers, takeText)
	takeText(&p.Namespace, &like.Namespace)
	takeText(&p.Node, &like.Node)
	takeText(&p.Phase, &like.Phase)
	takeText(&p.Owner.Kind, &like.Owner.Kind)
	takeText(&p.Owner.Name, &like.Owner.Name)
	takeText(&p.Owner.UID, &like.Owner.UID)
}

func (c *Container) take(like *Container) {
	takeText(&c.Name, &like.Name)
	takeText(&c.Image, &like.Image)
	takeText(&c.StatusImage, &like.StatusImage)
	takeText(&c.ImageID, &like.ImageID)
}

func (c *Condition) take(like *Condition) {
	takeText(&c.Type, &like.Type)
	takeText(&c.Status, &like.Status)
	takeText(&c.Reason, &like.Reason)
}

// takeList takes a list that is equal as a whole, else item by item.
func takeList[T comparable](p *[]T, like []T, item func(p, like *T)) {
	if len(*p) > 0 && slices.Equal(*p, like) {
		*p = like
		return
	}
	for i := range min(len(*p), len(like)) {
		item(&(*p)[i], &like[i])
	}
}

func takeText[S ~string](p, like *S) {
	if *p == *like {
		*p = *like
	}
}
