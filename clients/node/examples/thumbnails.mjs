// thumbnails.mjs [NAME…]: push a few tasks, be their worker, show what came of them.
// Needs a server (script/server); ERRAND_URL names another one.
//
// SPDX-License-Identifier: MIT
import { Client, Permanent, Worker, order } from 'errand';

const client = new Client();
const worker = new Worker({ client, concurrency: 2, claimWaitMs: 1000 });

worker.task('thumbnail', async (job) => {
  const name = job.payload.image;
  if (!name.endsWith('.png')) {
    throw new Permanent(`${name} is no picture`, { code: 'not_a_picture' });
  }
  job.progress(50, `reading ${name}`);
  return { file: name.replace('.png', '-64.png') };
});

const names = process.argv.length > 2 ? process.argv.slice(2) : ['cat.png', 'dog.png', 'notes.txt'];
const working = worker.run();
// Tasks of one document never overlap: two pictures of one album are made one after the other.
const tasks = await client.pushMany(names.map((image) => order('thumbnail', { image }, { document: 'album' })));
for (const { id } of tasks) {
  const ended = await client.wait(id);
  console.log(ended.payload.image, ended.state, ended.result?.file ?? ended.error.message);
}
worker.stop();
await working;
client.close();
