// Package tinker speaks the Tinker protocol, in the dialects of the SDK from 0.6.0 on: it
// decodes requests and encodes answers, and leaves everything else to a Service.
package tinker

import (
	"context"
	"io"
	"time"

	"macaron/internal/mint"
)

// Service trains and samples. Every error is coded: not_found for what the owner has not,
// gone for what has ended or was collected, overloaded with a time when to come again.
type Service interface {
	Bases(ctx context.Context, owner string) ([]mint.Base, error)

	CreateSession(ctx context.Context, owner string, r mint.NewSession) (mint.Session, error)
	Heartbeat(ctx context.Context, owner, session string) error // gone once it has ended
	Finish(ctx context.Context, owner, session string, why mint.Reason, detail string) error
	Session(ctx context.Context, owner, session string) (s mint.Session, runs, samplers []string, err error)
	Sessions(ctx context.Context, owner string, p mint.Page) (ids []string, total int, err error)

	// Each gives its promise at once. A number that was used gives its old promise.
	CreateModel(ctx context.Context, owner string, r mint.CreateModel) (mint.Promise, error)
	Forward(ctx context.Context, owner string, r mint.Forward) (mint.Promise, error)
	OptimStep(ctx context.Context, owner string, r mint.OptimStep) (mint.Promise, error)
	Save(ctx context.Context, owner string, r mint.Save) (mint.Promise, error)
	SaveSampler(ctx context.Context, owner string, r mint.SaveSampler) (mint.Promise, error)
	Load(ctx context.Context, owner string, r mint.Load) (mint.Promise, error)
	Unload(ctx context.Context, owner, model string) (mint.Promise, error)
	Refuse(ctx context.Context, owner string, r mint.Refused) (mint.Promise, error)
	Sample(ctx context.Context, owner string, r mint.Sample) (mint.Promise, error)

	// Retrieve waits for the outcome up to a time. A pending outcome is no error.
	Retrieve(ctx context.Context, owner, request string, wait time.Duration) (mint.Outcome, error)
	// Finished waits up to a time for any promise of a sampler that is resolved after a
	// cursor, and gives these in the order in which they were resolved.
	Finished(ctx context.Context, owner, sampler string, cursor int64, wait time.Duration) (done []mint.Outcome, next int64, err error)
	Cancel(ctx context.Context, owner, request string) error

	Model(ctx context.Context, owner, model string) (mint.Model, error)
	Models(ctx context.Context, owner string, p mint.Page) (runs []mint.Model, total int, err error)
	CreateSampler(ctx context.Context, owner string, r mint.NewSampler) (mint.Sampler, error)
	Sampler(ctx context.Context, owner, sampler string) (mint.Sampler, error)

	Checkpoint(ctx context.Context, owner, path string) (mint.Checkpoint, error)
	// Checkpoints lists those of a run, or of all runs when run is empty.
	Checkpoints(ctx context.Context, owner, run string, p mint.Page) (list []mint.Checkpoint, total int, err error)
	DeleteCheckpoint(ctx context.Context, owner, path string) error
	Publish(ctx context.Context, owner, path string, public bool) error
	SetTTL(ctx context.Context, owner, path string, ttl time.Duration) error // 0: never expires
	Copy(ctx context.Context, owner string, r mint.Copy) (mint.Checkpoint, error)
	// Archive gives the PEFT directory of a checkpoint as a tar.gz.
	Archive(ctx context.Context, owner, path string) (io.ReadCloser, error)
	// Upload takes a tar.gz of a PEFT directory as a new checkpoint.
	Upload(ctx context.Context, owner string, r io.Reader) (mint.Checkpoint, error)
}
