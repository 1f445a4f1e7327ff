// What lies under the pointer: small things first, then areas.
import { boxAt } from "./mosaic.js";
import { centreRadius, pointRadius, unitRadius } from "./painter.js";
import { inside, within } from "./projection.js";

const REACH = 5;

/** The index of the nearest of some places of the plane within so many pixels of a screen position, or -1. */
export const nearestWithin = (at, view, [x, y], pixels) => nearest(at, view, x, y, () => pixels - REACH);

function nearest(at, view, x, y, radius) {
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < at.xs.length; i += 1) {
    const distance = Math.hypot(view.sx * at.xs[i] + view.tx - x, view.sy * at.ys[i] + view.ty - y);
    if (distance < least && distance <= radius(i) + REACH) {
      best = i;
      least = distance;
    }
  }
  return best;
}

/** {kind, index, set?} of the thing at a screen position, or null. */
export function find(scene, view, x, y, position) {
  for (let set = scene.setsAt.length - 1; set >= 0; set -= 1) {
    const index = nearest(scene.setsAt[set], view, x, y, () => 8);
    if (index >= 0) return { kind: "site", set, index };
  }
  if (scene.ownerAt) {
    const index = nearest(scene.ownerAt, view, x, y, () => 7);
    if (index >= 0) return { kind: "owner", index };
  }
  if (scene.visible.centres && scene.centresAt) {
    const index = nearest(scene.centresAt, view, x, y, (i) => centreRadius(scene.current.sizes?.[i], scene, view));
    if (index >= 0) return { kind: "centre", index };
  }
  const forbidden = scene.forbidden.findIndex(({ ring }) => inside(position, [ring]));
  if (forbidden >= 0) return { kind: "forbidden", index: forbidden };
  if (scene.visible.points && scene.mosaic) {
    const index = boxAt(scene.mosaic, [(x - view.tx) / view.sx, (y - view.ty) / view.sy]);
    if (index >= 0) return { kind: "point", index };
  } else if (scene.visible.points && scene.at) {
    const unit = unitRadius(scene, view);
    const index = nearest(scene.at, view, x, y, (i) => pointRadius(scene.current.weights[i], scene, unit));
    if (index >= 0) return { kind: "point", index };
  }
  const zone = scene.zones.findIndex(({ geometry }) => within(position, geometry));
  return scene.visible.zones && zone >= 0 ? { kind: "zone", index: zone } : null;
}

/** The Voronoi region of the level in which a position lies, or null. */
export function regionAt(scene, position) {
  const index = (scene.current?.regions?.features ?? []).findIndex(({ geometry }) => within(position, geometry));
  return index < 0 ? null : index;
}
