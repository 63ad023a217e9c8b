// Command app is what the containers of real-node tests run: it serves its
// version on port 8080 until it is asked to end.
//
//	app [serve]        serve
//	app exit CODE      end at once
//	app pause          only wait
//	app need FILE      end with 1 unless the file exists, else serve
//
// With LINGER=2s in its environment it takes so long to end.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"serve"}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	switch args[0] {
	case "exit":
		code, _ := strconv.Atoi(args[1])
		os.Exit(code)
	case "pause":
		linger(ended)
		return
	case "need":
		if _, err := os.Stat(args[1]); err != nil { //nolint:gosec // a test names the file
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(version)}
	go func() {
		if err := server.ListenAndServe(); err != nil {
			fmt.Fprintln(os.Stderr, err) // another container of the pod has the port
		}
	}()
	linger(ended)
}

// linger waits until the program is to end, and then for a while.
func linger(ended <-chan os.Signal) {
	<-ended
	more, _ := time.ParseDuration(os.Getenv("LINGER"))
	time.Sleep(more)
}

func version(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, os.Getenv("VERSION"))
}
