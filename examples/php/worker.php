<?php
/* worker.php TYPE PAYLOAD COMMAND…: creates a task, claims one of its type and runs the command for it.
 *
 * A whole client without extensions: create with an idempotency key, claim with a lease, a heartbeat while the command runs,
 * complete or fail, and what to do when the lease is lost. The command gets the payload on standard input and writes the
 * result, which must be JSON, to standard output. ERRAND_URL and ERRAND_TOKEN name the server.
 *
 * SPDX-License-Identifier: MIT */
declare(strict_types=1);

final class LeaseLost extends Exception
{
}

/* A server that is away is asked again: creates and ends may be repeated, the key and the lease see to that. */
function post(string $path, array $body): array
{
    $headers = ['Content-Type: application/json', 'Connection: close'];
    if (getenv('ERRAND_TOKEN')) {
        $headers[] = 'Authorization: Bearer ' . getenv('ERRAND_TOKEN');
    }
    $context = stream_context_create(['http' => ['method' => 'POST', 'header' => $headers, 'content' => json_encode($body),
        'ignore_errors' => true, 'timeout' => 60]]);
    for ($tries = 5;; $tries--) {
        $answer = @file_get_contents((getenv('ERRAND_URL') ?: 'http://127.0.0.1:8001') . $path, false, $context);
        $status = $answer === false ? 503 : (int) explode(' ', $http_response_header[0])[1];
        if ($status !== 503 || $tries <= 1) {
            break;
        }
        sleep(1);
    }
    $told = $answer === false ? null : json_decode($answer, true);
    if ($status < 300) {
        return $told;
    }
    if (($told['error']['code'] ?? '') === 'lease_lost') {
        throw new LeaseLost();
    }
    throw new RuntimeException("$status " . ($told['error']['message'] ?? 'the server is away'));
}

[, $type, $payload] = $argv;
$command = array_slice($argv, 3);
$leaseMs = (int) (getenv('LEASE_MS') ?: 60000);
$made = post('/api/tasks', ['taskType' => $type, 'payload' => json_decode($payload), 'idempotencyKey' => 'worker.php-' . bin2hex(random_bytes(16))]);
echo "created {$made['id']}\n";

$claimed = post('/api/claim', ['workerId' => 'worker.php:' . getmypid(), 'taskTypes' => [$type], 'waitMs' => 10000, 'leaseMs' => $leaseMs]);
$task = $claimed['tasks'][0] ?? null;
if ($task === null) {
    exit("nothing to do\n");
}
$path = "/api/tasks/{$task['id']}";
echo "claimed {$task['id']}\n";

$work = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
@fwrite($pipes[0], $payload); // a command need not read it
fclose($pipes[0]);
$result = '';
try {
    for (;;) {
        $read = [$pipes[1]];
        $none = null;
        if (stream_select($read, $none, $none, intdiv($leaseMs, 3000), $leaseMs * 1000 / 3 % 1000000) === 0) {
            if (post("$path/heartbeat", ['lease' => $task['lease']])['cancelRequested']) { // a third of the lease has passed
                proc_terminate($work);
            }
        } elseif (($more = fread($pipes[1], 65536)) === '' || $more === false) {
            break;
        } else {
            $result .= $more;
        }
    }
    $status = proc_close($work);
    $ended = $status === 0
        ? post("$path/complete", ['lease' => $task['lease'], 'result' => json_decode($result)])
        : post("$path/fail", ['lease' => $task['lease'], 'error' => ['code' => 'exit', 'message' => "the command ended with $status"]]);
    echo "ended {$task['id']} {$ended['state']}\n";
} catch (LeaseLost) { // somebody else has the task by now: the work is for nothing
    if (is_resource($work)) {
        proc_terminate($work);
    }
    echo "lost {$task['id']}\n";
}
