//! Images in results: `{"$image": {"mimeType": .., "data": <base64>}}` becomes an image block that the agent sees.

use appduct_proto::wire::{Fields, Length, Object, RawJson};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::ContentBlock;

use super::spill::Spill;

/// The key of an image among those of a result.
const KEY: &str = "$image";
/// The most bytes that an image may have. Larger ones end the conversation with some models.
const MAX_BYTES: usize = 3_500_000;
/// The most pixels on a side, for the same reason.
const MAX_SIDE: usize = 2000;

/// The types that models take, each with the ending of its files.
const TYPES: &[(&str, &str)] =
    &[("image/png", "png"), ("image/jpeg", "jpg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// The blocks of a result that holds an image; `None` for any other. What the result has besides is a text block.
pub(super) fn content(result: &RawJson, name: &str, spill: &Spill) -> Option<Vec<ContentBlock>> {
    let fields = Fields::parse(result.as_str())?;
    let image = Fields::parse(fields.get(KEY)?.get())?;
    let mime_type = image.text("mimeType", Length::NON_EMPTY).ok()?.into_owned();
    let data = image.text("data", Length::NON_EMPTY).ok()?;
    let bytes = STANDARD.decode(data.as_bytes()).ok()?;
    let (_, extension) = TYPES.iter().find(|(known, _)| *known == mime_type)?;
    let side = imagesize::blob_size(&bytes).ok().map(|size| size.width.max(size.height));
    let fault = match side {
        _ if bytes.len() > MAX_BYTES => Some(format!("has {} bytes, over the limit of {MAX_BYTES}", bytes.len())),
        Some(side) if side > MAX_SIDE => Some(format!("has a side of {side} pixels, over the limit of {MAX_SIDE}")),
        Some(_) => None,
        None => Some("is damaged".to_owned()),
    };
    let mut content = vec![match fault {
        None => ContentBlock::image(data, mime_type),
        Some(fault) => ContentBlock::text(kept(&fault, spill.write(name, extension, &bytes))),
    }];
    let rest = fields.iter().filter(|(key, _)| *key != KEY);
    let rest = rest.fold(Object::new(), |object, (key, value)| object.display(key, value.get())).finish();
    if rest != "{}" {
        content.push(ContentBlock::text(rest));
    }
    Some(content)
}

/// Where an image is that is not shown.
fn kept(fault: &str, path: std::io::Result<std::path::PathBuf>) -> String {
    match path {
        Ok(path) => format!("The image {fault}. It is not shown here; the file is {}", path.display()),
        Err(error) => format!("The image {fault}. It is not shown here, and cannot be kept in a file: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a PNG file, as far as its size.
    fn png(width: u32, height: u32, bytes: usize) -> String {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend(width.to_be_bytes());
        png.extend(height.to_be_bytes());
        png.resize(bytes.max(png.len()), 0);
        STANDARD.encode(png)
    }

    fn of(text: &str) -> Option<Vec<ContentBlock>> {
        let (_dir, spill) = Spill::of_test();
        content(&RawJson::parse(text).unwrap(), "call_x", &spill)
    }

    fn image(mime_type: &str, data: &str) -> String {
        format!(r#"{{"$image":{{"mimeType":"{mime_type}","data":"{data}"}},"at" : 5}}"#)
    }

    #[test]
    fn an_image_is_a_block_and_the_rest_is_text() {
        let data = png(2000, 100, 0);
        let blocks = of(&image("image/png", &data)).unwrap();
        let block = blocks[0].as_image().unwrap();
        assert_eq!((block.data.as_str(), block.mime_type.as_str()), (data.as_str(), "image/png"));
        assert_eq!(blocks[1].as_text().unwrap().text, r#"{"at":5}"#);
        assert_eq!(of(&format!(r#"{{"$image":{{"mimeType":"image/png","data":"{data}"}}}}"#)).unwrap().len(), 1);
    }

    #[test]
    fn an_image_over_the_bounds_becomes_a_file() {
        let (_dir, spill) = Spill::of_test();
        for (data, fault) in [
            (png(2001, 1, 0), "side of 2001 pixels"),
            (png(1, 1, MAX_BYTES + 1), "bytes, over the limit"),
            (STANDARD.encode(b"no image"), "is damaged"),
        ] {
            let result = RawJson::parse(&image("image/png", &data)).unwrap();
            let blocks = content(&result, "call_x", &spill).unwrap();
            let text = &blocks[0].as_text().unwrap().text;
            assert!(text.contains(fault), "{text}");
            let path = text.rsplit(' ').next().unwrap();
            assert_eq!(STANDARD.encode(std::fs::read(path).unwrap()), data);
        }
    }

    #[test]
    fn anything_else_is_an_ordinary_result() {
        let data = png(1, 1, 0);
        for text in [
            "[1]".to_owned(),
            r#"{"image":{}}"#.to_owned(),
            r#"{"$image":1}"#.to_owned(),
            r#"{"$image":{"mimeType":"image/png"}}"#.to_owned(),
            image("image/png", "not base64"),
            image("image/svg+xml", &data),
        ] {
            assert!(of(&text).is_none(), "{text}");
        }
    }
}
