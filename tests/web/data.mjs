// tests/web/data.mjs: a server's worth of everything the pages show, for tests and for pictures.
//
// SPDX-License-Identifier: MIT

/** What must be shown as text and never become a part of the page. */
export const NASTY = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>';

const ALL = { waitMs: 0, leaseMs: 600000 };

/** Ends a remote attempt of the type with this call: "complete", "fail". */
async function work(api, taskType, verb, body, before) {
  const { tasks: [task] } = await api('POST', '/api/claim', { ...ALL, workerId: `worker ${NASTY}`.slice(0, 200), taskTypes: [taskType] });
  if (before) {
    await api('POST', `/api/tasks/${task.id}/heartbeat`, { lease: task.lease, ...before });
  }
  if (verb) {
    await api('POST', `/api/tasks/${task.id}/${verb}`, { lease: task.lease, ...body });
  }
  return task;
}

/** Tasks, schedules, a team, notifications: every field that takes text has the nasty one. Returns the ids. */
export async function fillNastily(api) {
  const ids = {};
  const order = (name, more = {}) => ({ taskType: `${name} ${NASTY}`, documentId: `${name} doc ${NASTY}`, tags: [NASTY], payload: { [NASTY]: NASTY }, metadata: { [NASTY]: NASTY }, idempotencyKey: `${name} ${NASTY}`, maxRetries: 0, ...more });
  ids.failed = (await api('POST', '/api/tasks', order('failed'))).id;
  await work(api, order('failed').taskType, 'fail', { error: { code: NASTY, message: NASTY, detail: NASTY }, retry: false }, { log: [NASTY] });
  ids.done = (await api('POST', '/api/tasks', order('done'))).id;
  await work(api, order('done').taskType, 'complete', { result: { [NASTY]: NASTY } });
  ids.running = (await api('POST', '/api/tasks', order('running'))).id;
  await work(api, order('running').taskType, null, null, { log: [NASTY], progress: { percent: 40, message: NASTY } });
  ids.waiting = (await api('POST', '/api/tasks', order('waiting', { documentId: order('running').documentId }))).id;
  ids.cancelled = (await api('POST', '/api/tasks', order('cancelled'))).id;
  await api('POST', `/api/tasks/${ids.cancelled}/cancel`, { reason: NASTY });
  ids.parent = (await api('POST', '/api/tasks', { taskType: `parent ${NASTY}`, children: [{ taskType: `child ${NASTY}` }, { taskType: 'noop' }] })).id;
  const [, depends] = await api('POST', '/api/tasks', [{ ref: 'a', taskType: `first ${NASTY}` }, { taskType: `second ${NASTY}`, dependsOn: ['a'] }]);
  ids.depends = depends.id;
  const schedule = await api('POST', '/api/schedules', { title: NASTY, description: NASTY, purpose: NASTY, userId: NASTY, rrule: 'FREQ=DAILY;BYHOUR=9', payload: { [NASTY]: NASTY }, taskType: 'remind' });
  ids.schedule = schedule.id;
  await api('POST', `/api/schedules/${schedule.id}/run`);
  await api('POST', '/api/schedules', { title: 'paused', rrule: 'FREQ=DAILY', taskType: 'remind', userId: 'ann' }).then(({ id }) => api('POST', `/api/schedules/${id}/pause`));
  const team = await api('POST', '/api/teams', { prompt: NASTY, teammates: [{ role: NASTY, focus: NASTY }], tasks: [{ id: 'a', title: NASTY, description: NASTY }, { id: 'b', title: 'second', description: 'x', dependsOn: ['a'] }] });
  ids.team = team.teamId;
  await api('POST', `/api/teams/${team.teamId}/messages`, { from: 'somebody', body: NASTY });
  return ids;
}
