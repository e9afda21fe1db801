export async function POST(request) {
  const form = await request.formData();
  return Response.json({ message: form.get('message') });
}
