//go:build go1.21
// +build go1.21

package main

import (
	"context"
	"errors"
)

func newerContexts(ctx context.Context) {
	without := context.WithoutCancel(ctx)
	row(&without, contextText(without, ""))
	ended, cancel := context.WithCancelCause(without)
	cancel(errors.New("the cause"))
	row(&ended, contextText(ended, `{err: error(*errors.errorString) *{s: "context canceled"}, cause: error(*errors.errorString) *{s: "the cause"}}`))
}
