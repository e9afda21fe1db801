export declare function createPostbackKey(permalink: string | undefined, keyPath: unknown, hookIndex: number): string;
