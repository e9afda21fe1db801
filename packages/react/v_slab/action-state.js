/** The key by which a posted form finds its `useActionState` again. */
import { createHash } from 'node:crypto';
export function createPostbackKey(permalink, keyPath, hookIndex) {
    if (permalink !== undefined)
        return `p${permalink}`;
    const hash = createHash('md5');
    hash.update(JSON.stringify([keyPath, null, hookIndex]));
    return `k${hash.digest('hex')}`;
}
//# sourceMappingURL=action-state.js.map