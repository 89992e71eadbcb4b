// web/lib/graph.js: who waits for whom, drawn in layers from the left: a node stands right of everything it depends on.
//
// SPDX-License-Identifier: MIT
import { h, s } from './dom.js';

const BOX_W = 190;
const BOX_H = 46;
const GAP_X = 46;
const GAP_Y = 14;
const TEXT_MAX = 23;

const cut = (text) => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text);

/** Layers by the longest way from the left; in a layer those that share predecessors stay together. */
function layers(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depth = new Map();
  const measure = (node, way = new Set()) => {
    if (!depth.has(node.id) && !way.has(node.id)) {
      way.add(node.id);
      depth.set(node.id, Math.max(-1, ...node.after.filter((id) => byId.has(id)).map((id) => measure(byId.get(id), way))) + 1);
    }
    return depth.get(node.id) ?? 0;
  };
  const columns = [];
  nodes.forEach((node) => (columns[measure(node)] ??= []).push(node));
  const place = new Map();
  columns.forEach((column, at) => {
    const middle = (node) => {
      const before = node.after.map((id) => place.get(id)?.row).filter((row) => row !== undefined);
      return before.length === 0 ? 0 : before.reduce((sum, row) => sum + row, 0) / before.length;
    };
    if (at > 0) {
      column.sort((a, b) => middle(a) - middle(b));
    }
    column.forEach((node, row) => place.set(node.id, { column: at, row }));
  });
  return { columns, place };
}

/** nodes: [{id, title, under, state, after: [ids], href, here}]. */
export function graph(label, nodes) {
  const { columns, place } = layers(nodes);
  const tallest = Math.max(...columns.map((column) => column.length));
  const width = columns.length * (BOX_W + GAP_X) - GAP_X + 8;
  const height = tallest * (BOX_H + GAP_Y) - GAP_Y + 8;
  const spot = (id) => {
    const { column, row } = place.get(id);
    const free = (tallest - columns[column].length) * (BOX_H + GAP_Y) / 2;
    return [4 + column * (BOX_W + GAP_X), 4 + free + row * (BOX_H + GAP_Y)];
  };
  const edges = nodes.flatMap((node) => node.after.filter((id) => place.has(id)).map((id) => {
    const [fromX, fromY] = spot(id);
    const [toX, toY] = spot(node.id);
    const [x1, y1, x2, y2] = [fromX + BOX_W, fromY + BOX_H / 2, toX, toY + BOX_H / 2];
    const bend = Math.max(20, (x2 - x1) / 2);
    return s('path', { class: 'edge', d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
  }));
  const boxes = nodes.map((node) => {
    const [x, y] = spot(node.id);
    const box = [s('title', {}, `${node.title}: ${node.state}`), s('rect', { x, y, width: BOX_W, height: BOX_H, rx: 8 }),
      s('circle', { class: `is-${node.state}`, cx: x + 16, cy: y + BOX_H / 2, r: 5 }),
      s('text', { x: x + 30, y: y + 20 }, cut(node.title)), s('text', { class: 'under', x: x + 30, y: y + 36 }, cut(node.under ?? node.state))];
    const look = node.here ? 'here' : null;
    return node.href ? s('a', { href: node.href, class: look }, box) : s('g', { class: look }, box);
  });
  return h('div', { class: 'graph', tabindex: '0', role: 'group', 'aria-label': label },
    s('svg', { viewBox: `0 0 ${width} ${height}`, width, height }, edges, boxes));
}
