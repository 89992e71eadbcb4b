/* work/push_cloud.h: a task of the Cloud Tasks API as an HTTP request: its own method, address and
 * headers, and those that the receiver knows such tasks by.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_CLOUD_H
#define ERRAND_WORK_PUSH_CLOUD_H

#include <curl/curl.h>

#include "base/rand.h"
#include "cloud/dispatch.h"
#include "work/job.h"

/* While job->claimed is there. */
struct curl_slist *push_cloud_headers(struct job *job, const struct cloud_request *to);
void push_cloud_set(CURL *easy, const struct cloud_request *to, const struct job *job);

#endif
