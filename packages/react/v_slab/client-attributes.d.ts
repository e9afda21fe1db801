export declare function attributeForClient(name: string, value: unknown): [string, string] | null;
