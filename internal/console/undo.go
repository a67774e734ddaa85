package console

import (
	"net/http"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

const undoPath = "/undo"

// An Undoable identifies changes of a call that were kept and can be undone.
type Undoable struct {
	ID      string
	Session umpire.SessionID
	Paths   []string
}

// undo undoes the changes that a page names, and answers with a description of the result.
func (c *Console) undo(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"id"`
	}
	err := readJSON(w, r, &in)
	if err == nil && in.ID == "" {
		err = umpire.Errorf("id: want the ID of the change to undo: %w", umpire.ErrInvalid)
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	said, err := c.config.Undo(r.Context(), textOf(r), c.gateOf(r), in.ID)
	if err != nil {
		sendRefusal(w, r, http.StatusConflict, err)
		return
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: view.Visible(said)})
}
