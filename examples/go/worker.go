// worker.go TYPE PAYLOAD COMMAND…: creates a task, claims one of its type and runs the command for it.
//
// A whole client in Go's standard library: create with an idempotency key, claim with a lease, a heartbeat while the command
// runs, complete or fail, and what to do when the lease is lost. The command gets the payload on standard input and writes
// the result, which must be JSON, to standard output. ERRAND_URL and ERRAND_TOKEN name the server.
//
// SPDX-License-Identifier: MIT
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

var errLeaseLost = errors.New("the lease is lost")

type task struct {
	ID, State, Lease string
	Payload          json.RawMessage
	CancelRequested  bool
	Tasks            []task
	Error            struct{ Code, Message string }
}

// post asks a server that is away again: creates and ends may be repeated, the key and the lease see to that.
func post(path string, body map[string]any) (task, error) {
	var told task
	sent, err := json.Marshal(body)
	if err != nil {
		return told, err
	}
	for tries := 5; ; tries-- {
		request, _ := http.NewRequest("POST", env("ERRAND_URL", "http://127.0.0.1:8001")+path, bytes.NewReader(sent))
		request.Header.Set("Content-Type", "application/json")
		if token := os.Getenv("ERRAND_TOKEN"); token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil && answer.StatusCode != 503 {
			defer answer.Body.Close()
			if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
				return told, err
			}
			if told.Error.Code == "lease_lost" {
				return told, errLeaseLost
			}
			if answer.StatusCode >= 300 && told.ID == "" {
				return told, fmt.Errorf("%s: %s", answer.Status, told.Error.Message)
			}
			return told, nil
		}
		if tries <= 1 {
			return told, fmt.Errorf("the server is away: %v", err)
		}
		time.Sleep(time.Second)
	}
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// beat renews the lease until the context ends; it ends the work when the lease is lost or a cancel was requested.
func beat(working context.Context, stop context.CancelFunc, path, lease string, every time.Duration, lost *bool) {
	for {
		select {
		case <-working.Done():
			return
		case <-time.After(every):
		}
		told, err := post(path+"/heartbeat", map[string]any{"lease": lease})
		if *lost = errors.Is(err, errLeaseLost); *lost || told.CancelRequested {
			stop()
			return
		}
	}
}

func main() {
	kind, payload, command := os.Args[1], os.Args[2], os.Args[3:]
	leaseMs, err := strconv.Atoi(env("LEASE_MS", "60000"))
	check(err)
	key := make([]byte, 16)
	_, err = rand.Read(key)
	check(err)
	made, err := post("/api/tasks", map[string]any{"taskType": kind, "payload": json.RawMessage(payload), "idempotencyKey": fmt.Sprintf("worker.go-%x", key)})
	check(err)
	fmt.Println("created", made.ID)

	claimed, err := post("/api/claim", map[string]any{"workerId": fmt.Sprintf("worker.go:%d", os.Getpid()), "taskTypes": []string{kind}, "waitMs": 10000, "leaseMs": leaseMs})
	check(err)
	if len(claimed.Tasks) == 0 {
		fmt.Println("nothing to do")
		return
	}
	work := claimed.Tasks[0]
	path, lost := "/api/tasks/"+work.ID, false
	fmt.Println("claimed", work.ID)

	working, stop := context.WithCancel(context.Background())
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		beat(working, stop, path, work.Lease, time.Duration(leaseMs)*time.Millisecond/3, &lost)
	}()
	program := exec.CommandContext(working, command[0], command[1:]...)
	program.Stdin = bytes.NewReader(work.Payload)
	result, failed := program.Output()
	stop()
	<-beaten

	var ended task
	if !lost && failed == nil {
		ended, err = post(path+"/complete", map[string]any{"lease": work.Lease, "result": json.RawMessage(result)})
	} else if !lost {
		ended, err = post(path+"/fail", map[string]any{"lease": work.Lease, "error": map[string]string{"code": "exit", "message": failed.Error()}})
	}
	if lost || errors.Is(err, errLeaseLost) { // somebody else has the task by now: the work was for nothing
		fmt.Println("lost", work.ID)
		return
	}
	check(err)
	fmt.Println("ended", work.ID, ended.State)
}
