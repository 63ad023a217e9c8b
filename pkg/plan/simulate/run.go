package simulate

import (
	"errors"
	"time"
)

// quiet is for how long nothing may happen until the cluster counts as settled,
// unless something is planned for later.
const quiet = 5 * time.Second

// Run lets everything happen that is due until a time.
func (w *World) Run(until time.Time) error {
	limit := until.Sub(w.start)
	for w.step(limit) {
		if err := w.fault(); err != nil {
			return err
		}
	}
	w.at = max(w.at, limit)
	return w.fault()
}

// Settle lets things happen until nothing has happened for a while, or until so
// much time has passed. It reports whether the cluster settled, which is also the
// case when nothing is planned any more.
func (w *World) Settle(limit time.Duration) (bool, error) { return w.SettleFor(quiet, limit) }

// SettleFor is [World.Settle] with another idea of "a while".
func (w *World) SettleFor(still, limit time.Duration) (bool, error) {
	end := w.at + limit
	w.active = w.at
	for w.step(min(w.active+still, end)) {
		if err := w.fault(); err != nil {
			return false, err
		}
	}
	settled := w.active+still <= end || len(w.queue) == 0
	w.at = max(w.at, min(w.active+still, end))
	return settled, w.fault()
}

// fault tells what went wrong in a model.
func (w *World) fault() error {
	err := errors.Join(w.errs...)
	w.errs = nil
	return err
}
