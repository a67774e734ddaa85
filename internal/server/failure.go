package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// The words of a failure's reason_code that name no decision.
const (
	wordNotFound     = "not_found"
	wordInvalid      = "invalid"
	wordState        = "state"
	wordFenced       = "fenced"
	wordOtherProject = "other_project"
	wordLimit        = "limit"
	wordNotRecorded  = "not_recorded"
	wordCredential   = "credential"
	wordDraining     = "draining"
	wordSlow         = "slow"
	wordCanceled     = "canceled"
	wordDeadline     = "deadline"
	wordInternal     = "internal"
)

// kinds say how the errors of a gate are told on the wire. The first that an error
// matches holds.
var kinds = []struct {
	is   error
	code connect.Code
	word string
}{
	{host.ErrAway, connect.CodeUnavailable, wordDraining},
	{umpire.ErrResolved, connect.CodeFailedPrecondition, string(umpire.CodeResolved)},
	{umpire.ErrChanged, connect.CodeFailedPrecondition, string(umpire.CodeChanged)},
	{umpire.ErrNotRecorded, connect.CodeUnavailable, wordNotRecorded},
	{umpire.ErrFenced, connect.CodeAborted, wordFenced},
	{umpire.ErrNeedsPerson, connect.CodePermissionDenied, wordCredential},
	{umpire.ErrOtherProject, connect.CodePermissionDenied, wordOtherProject},
	{umpire.ErrLimit, connect.CodeResourceExhausted, wordLimit},
	{umpire.ErrNotFound, connect.CodeNotFound, wordNotFound},
	{umpire.ErrInvalid, connect.CodeInvalidArgument, wordInvalid},
	{umpire.ErrState, connect.CodeFailedPrecondition, wordState},
	{context.Canceled, connect.CodeCanceled, wordCanceled},
	{context.DeadlineExceeded, connect.CodeDeadlineExceeded, wordDeadline},
}

// A failure is an error on its way out.
type failure struct {
	code     connect.Code
	word     string
	text     string
	phrase   umpire.Phrase    // the text as data, "" where there is none
	standing *umpire.Standing // the answer that stands, when one came late
	after    int64            // where to watch from again
	resume   bool             // whether after says something
	status   int              // of a unary HTTP answer; 0 is that of the code
}

func (f *failure) Error() string { return f.text }

// failureOf tells an error of the gate.
func failureOf(err error) *failure {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	f := &failure{code: connect.CodeInternal, word: wordInternal, text: err.Error(), phrase: umpire.PhraseOf(err)}
	for _, kind := range kinds {
		if errors.Is(err, kind.is) {
			f.code, f.word = kind.code, kind.word
			break
		}
	}
	// Connect has no code for a conflict.
	if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
		f.standing, f.status = &late.Standing, http.StatusConflict
	}
	if f.word == string(umpire.CodeChanged) {
		f.status = http.StatusConflict
	}
	return f
}

// failureIn reads a failure that Connect found by itself, before anybody here was
// asked: a body that is too large, or that is compressed in an unknown way.
func failureIn(body []byte) *failure {
	f := &failure{code: connect.CodeInvalidArgument, word: wordInvalid}
	var told struct {
		Code connect.Code `json:"code"`
	}
	if json.Unmarshal(body, &told) != nil {
		return f
	}
	for _, kind := range kinds {
		if kind.code == told.Code {
			f.code, f.word = kind.code, kind.word
			break
		}
	}
	return f
}

func invalid(format string, args ...any) error {
	return umpire.Errorf("%w: %w", umpire.Errorf(format, args...), umpire.ErrInvalid)
}

// rpc returns the failure as Connect and gRPC tell it, with its detail.
func (f *failure) rpc() *connect.Error {
	told := connect.NewError(f.code, errors.New(f.text))
	detail := &umpirev1.Failure{ReasonCode: f.word, After: f.after}
	if s := f.standing; s != nil {
		detail.Standing = &umpirev1.Standing{
			RequestId: string(s.Request), Answer: string(s.Choice), Scope: s.Scope.String(),
			Reason:     catalogue.English.Text(s.Reason),
			ReasonCode: string(s.Code), Actor: s.Actor, At: timestamppb.New(s.At),
		}
	}
	if packed, err := connect.NewErrorDetail(detail); err == nil {
		told.AddDetail(packed)
	}
	return told
}

// fields are what a JSON error has beside Connect's own, each with a comma after
// it, so that nobody has to unpack a protobuf message to learn them. With codes it has
// the text as data as well.
func (f *failure) fields(codes bool) []byte {
	fields := append([]byte(`"reason_code":`), strconv.Quote(f.word)...)
	fields = append(fields, ',')
	if phrase, err := json.Marshal(f.phrase); codes && f.phrase != "" && err == nil {
		fields = append(append(append(fields, `"phrase":`...), phrase...), ',')
	}
	if standing := f.standing; standing != nil {
		if !codes {
			standing = catalogue.In(catalogue.English, standing)
		}
		if text, err := json.Marshal(standing); err == nil {
			fields = append(append(append(fields, `"standing":`...), text...), ',')
		}
	}
	if f.resume {
		fields = append(strconv.AppendInt(append(fields, `"after":`...), f.after, 10), ',')
	}
	return fields
}

// An exchange is one request with who makes it and how it failed. It travels in
// the request's context.
type exchange struct {
	peer    *peer
	role    role
	codes   bool   // the client reads codes and looks up their texts itself
	claim   string // which client the peer says it is
	failure *failure
	body    *timedBody
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// noteFailure notes how the request failed, and returns what Connect is to tell.
func noteFailure(ctx context.Context, err error) error {
	f := failureOf(err)
	exchangeOf(ctx).failure = f
	return f.rpc()
}

// errDraining answers whoever comes while the server ends.
var errDraining = &failure{code: connect.CodeUnavailable, word: wordDraining, text: "the gate is going away"}

func wrongMethod(want string) *failure {
	return &failure{
		code: connect.CodeInvalidArgument, status: http.StatusMethodNotAllowed, word: wordInvalid, text: "want " + want,
	}
}

// A refuser writes a failure in the protocol that the request speaks.
type refuser struct {
	errors *connect.ErrorWriter
	log    *slog.Logger
}

// refuse answers a request that does not call a procedure.
func (e refuser) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e.writeFailure(w, r, exchangeOf(r.Context()), failureOf(err))
}

func (e refuser) writeFailure(w http.ResponseWriter, r *http.Request, x *exchange, f *failure) {
	x.failure = f
	if err := e.errors.Write(w, r, f.rpc()); err != nil {
		e.log.Debug("answering a failed request", "error", err)
	}
}
